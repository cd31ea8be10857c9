//! Templates that try to take the server's time, its memory, its stack, its files or its word. Each
//! category has a harmless twin that must work.

use super::{Format, rendered};
use std::time::{Duration, Instant};

struct Category {
    name: &'static str,
    attempts: Vec<String>,
    /// A template with the same means that is fine, and what it makes.
    twin: (&'static str, &'static str),
}

fn category(
    name: &'static str,
    twin: (&'static str, &'static str),
    attempts: Vec<String>,
) -> Category {
    Category {
        name,
        attempts,
        twin,
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// Every text with every filling in place of `@`.
fn filled(texts: &[&str], fillings: &[&str]) -> Vec<String> {
    texts
        .iter()
        .flat_map(|text| fillings.iter().map(|filling| text.replace('@', filling)))
        .collect()
}

const NUMBERS: [&str; 5] = [
    "20000",
    "99999999",
    "9223372036854775807",
    "10 ** 18",
    "(4 * 10 ** 6)",
];

fn loops() -> Vec<Category> {
    let inner = |depth: usize| {
        format!(
            "{}{}",
            "{% for i in range(900) %}".repeat(depth),
            "{% endfor %}".repeat(depth)
        )
    };
    vec![
        category(
            "endless loops",
            ("{% for i in range(3) %}{% for j in range(3) %}.{% endfor %}{% endfor %}", "........."),
            (2..12)
                .map(inner)
                .chain((2..8).map(|depth| format!("{{% set x %}}{}{{% endset %}}", inner(depth))))
                .chain(texts(&[
                    "{% for i in range(9999) %}{% for j in 'abcdefghijklmnopqrstuvwxyz' %}{{ i }}{% endfor %}{% endfor %}",
                    "{% for i in range(9999) if range(9999)|length > 1 %}{% for j in range(99) %}{% endfor %}{% endfor %}",
                    "{% for i in range(9999) %}{% for k in {'a': 1, 'b': 2, 'c': 3} %}{% set z = i * 2 + 1 %}{{ z }}{% endfor %}{% endfor %}",
                    "{% macro m() %}{% for i in range(9000) %}{% set q = i %}{% endfor %}{% endmacro %}{% for i in range(99) %}{{ m() }}{% endfor %}",
                ]))
                .collect(),
        ),
        category(
            "huge ranges",
            ("{{ range(10000)|length }}", "10000"),
            filled(
                &[
                    "{{ range(@) }}",
                    "{{ range(0, @)|length }}",
                    "{% for i in range(-(@), @) %}{% endfor %}",
                    "{{ range(@, 0, -1)|last }}",
                ],
                &NUMBERS,
            ),
        ),
        category(
            "repeats",
            ("{{ '=' * 20 }}{{ ([0] * 3)|length }}", "====================3"),
            filled(
                &[
                    "{{ 'abcd' * @ }}",
                    "{{ @ * 'abcd' }}",
                    "{{ ([1, 2, 3, 4] * @)|length }}",
                    "{% set n = @ %}{{ 'abcdefgh' * n }}",
                    "{% set n = @ %}{{ ([delegate] * n * n)|length }}",
                    "{{ ('abcd' ~ 'efgh') * @ }}",
                ],
                &NUMBERS,
            ),
        ),
        category(
            "constants worked out while compiling",
            ("{{ ('ab' * 3) ~ (2 ** 8) }}", "ababab256"),
            texts(&[
                "{{ 'a' * 100000000 }}",
                "{{ 'a' * 1000 * 1000 * 90 }}",
                "{% if false %}{{ 'a' * 90000000 }}{% endif %}",
                "{% set x = [0] * 90000000 %}",
                "{{ delegate[('a' * 90000000)] }}",
                "{{ delegate|default('a' * 90000000) }}",
                "{% macro m(a='a' * 90000000) %}{% endmacro %}",
                "{% with x = 'a' * 90000000 %}{% endwith %}",
                "{% for x in 'a' * 90000000 %}{% endfor %}",
                "{{ 1 if 'a' * 90000000 else 2 }}",
                "{{ ['a' * 90000000] }}",
                "{{ {'a' * 90000000: 1} }}",
                "{{ {1: 'a' * 90000000} }}",
                "{{ ('a' * 90000000)[0] }}",
                "{{ ('a' * 90000000) == 'b' }}",
                "{{ 'a' * ((2 ** 100 + 90000000) - 2 ** 100) }}",
                "{{ 'a' * -(2 ** 100 - (2 ** 100 + 90000000)) }}",
                "{{ 'a' * (10 ** 30 // 10 ** 22) }}",
                "{{ 'a' * (10 ** 8 - (5 and 9)) }}",
                "{{ 'a' * (90000000 % 100000000) }}",
                "{{ not ('a' * 90000000) }}",
                "{{ 'a' in 'a' * 90000000 }}",
                "{% do range('a' * 90000000) %}",
                "{% filter replace('a', 'a' * 90000000) %}{% endfilter %}",
            ]),
        ),
    ]
}

fn growth() -> Vec<Category> {
    let straight =
        |step: &str, times: usize| format!("{{% set x = 'abcdefgh' %}}{}", step.repeat(times));
    let looped = |step: &str| {
        format!(
            "{{% set n = namespace(x='abcdefgh', y=['abcdefgh']) %}}{{% for i in range(60) %}}{step}{{% endfor %}}"
        )
    };
    vec![
        category(
            "doubling",
            ("{% set x = 'ab' %}{% set x = x ~ x %}{% set x = x ~ x %}{{ x }}", "abababab"),
            [
                "{% set x = x ~ x %}",
                "{% set x = x + x %}",
                "{% set x = x * 2 %}",
                "{% set x = [x, x]|join %}",
                "{% set x = '%s%s'|format(x, x) %}",
                "{% set x = x|replace('a', x) %}",
                "{% set x %}{{ x }}{{ x }}{% endset %}",
                "{% set x %}{% filter upper %}{{ x }}{{ x }}{% endfilter %}{% endset %}",
                "{% macro m(t) %}{{ t }}{{ t }}{% endmacro %}{% set x = m(x) %}",
                "{% set x = x|urlencode ~ x|tojson %}",
                "{% set x = x ~ x|upper ~ x %}",
            ]
            .iter()
            .flat_map(|step| [straight(step, 30), straight(step, 60)])
            .chain(
                [
                    "{% set n.x = n.x ~ n.x %}",
                    "{% set n.x = n.x * 3 %}",
                    "{% set n.y = n.y + n.y %}",
                    "{% set n.y = n.y * 2 %}",
                    "{% set n.x = n.y|join(n.x) %}{% set n.y = [n.x, n.x] %}",
                ]
                .iter()
                .map(|step| looped(step)),
            )
            .collect(),
        ),
        category(
            "lists within lists",
            ("{% set a = [1] %}{% set a = [a, a] %}{% set a = [a, a] %}{{ a }}", "[[[1], [1]], [[1], [1]]]"),
            ["{{ x }}", "{{ x|tojson }}", "{{ x == y }}", "{{ x < y }}", "{{ x|string|length }}", "{{ x in [y] }}", "{{ [x, y]|sort }}", "{{ [x, y]|unique }}", "{{ x ~ '' }}", "{{ [x, y]|max }}", "{{ x|join }}", "{{ [x]|select('eq', y)|list }}"]
                .iter()
                .map(|end| {
                    format!(
                        "{{% set x = ['a'] %}}{{% set y = ['a'] %}}{}{end}",
                        "{% set x = [x, x] %}{% set y = [y, y] %}".repeat(40)
                    )
                })
                .chain(["{{ n.x|tojson }}", "{{ n.x }}", "{{ n.x == [n.x] }}"].iter().map(|end| {
                    format!("{{% set n = namespace(x=[1]) %}}{{% for i in range(90) %}}{{% set n.x = [n.x] %}}{{% endfor %}}{end}")
                }))
                .chain(["[n.x]", "{'a': n.x}", "[n.x]|batch(1)", "[[n.x]]|list", "dict(a=n.x)"].iter().map(|step| {
                    format!("{{% set n = namespace(x=[1]) %}}{{% for i in range(9999) %}}{{% set n.x = {step} %}}{{% endfor %}}{{{{ n.x|length }}}}")
                }))
                .chain(["{% set x = [x] %}", "{% set x = {'a': x} %}", "{% set x = [x]|batch(1) %}"].iter().map(|step| {
                    format!("{{% set x = 1 %}}{}{{{{ x|length }}}}", step.repeat(3_000))
                }))
                .collect(),
        ),
        category(
            "what holds itself",
            ("{% set n = namespace(x=1) %}{% set n.x = [n.x] %}{{ n.x }}", "[1]"),
            ["n", "[n]", "{'a': n}", "[[n], n]"]
                .iter()
                .flat_map(|own| {
                    ["{{ n.x|tojson }}", "{{ n.x == n.y }}", "{{ n|string }}"].map(|end| {
                        format!("{{% set n = namespace(x='a', y='a') %}}{{% for i in range(200) %}}{{% set n.x = {own} %}}{{% set n.y = {own} %}}{{% endfor %}}{end}")
                    })
                })
                .collect(),
        ),
        category(
            "too much output",
            ("{% for i in range(3) %}<p>{{ i }}</p>{% endfor %}", "<p>0</p><p>1</p><p>2</p>"),
            (1..=6)
                .flat_map(|size| {
                    let raw = "<i>filler</i>\n".repeat(300 * size);
                    [
                        format!("{{% for i in range(9999) %}}{raw}{{% endfor %}}"),
                        format!("{{% set x %}}{{% for i in range(9999) %}}{raw}{{% endfor %}}{{% endset %}}"),
                        format!("{{% macro m() %}}{raw}{{% endmacro %}}{{% for i in range(9999) %}}{{{{ m() }}}}{{% endfor %}}"),
                    ]
                })
                .collect(),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn work() -> Vec<Category> {
    let over = |body: &str| {
        format!(
            "{{% set l = range(9000) %}}{{% set t = 'x' * 60000 %}}{{% for i in range(9000) %}}{body}{{% endfor %}}"
        )
    };
    vec![
        category(
            "work hidden in a filter",
            ("{{ range(5)|sort(reverse=true)|join(',') }}", "4,3,2,1,0"),
            [
                "l|sort",
                "l|unique",
                "l|min",
                "l|join",
                "l|list",
                "l|reverse",
                "l|tojson",
                "l|string",
                "l|map('string')",
                "l|select('odd')|list",
                "t|upper",
                "t|title",
                "t|trim('yz')",
                "t|replace('q', 'r')",
                "t|split('x')",
                "t|list",
                "t|urlencode",
                "t|escape",
                "t|lines",
                "l|batch(3)",
                "l|slice(3)",
                "l|groupby('a')",
                "l|sum",
                "t|capitalize",
                "[t, t]|sort",
                "l|selectattr('a')",
                "t|reverse",
                "l|map(attribute='a')",
                "dict(a=1)|dictsort|list + l|list",
            ]
            .iter()
            .map(|filter| over(&format!("{{% set q = {filter} %}}")))
            .collect(),
        ),
        category(
            "work hidden in an operator",
            (
                "{{ 3 in [1, 2, 3] }} {{ [1, 2] == [1, 2] }} {{ 'b' in 'abc' }}",
                "True True True",
            ),
            [
                "9999 in l",
                "l == l",
                "l < l",
                "t == t",
                "'y' in t",
                "t != 'x'",
                "t[30000]",
                "t[::2]",
                "l[1:]",
                "l + l",
                "t + 'x'",
                "t ~ 'x'",
                "l >= l",
                "l <= l and l > l",
            ]
            .iter()
            .map(|operation| over(&format!("{{% set q = {operation} %}}")))
            .collect(),
        ),
        category(
            "padding",
            (
                "{{ '%5d|%-4s|%.1f'|format(7, 'ab', 2.25) }}",
                "    7|ab  |2.2",
            ),
            texts(&[
                "{{ '%99999999d'|format(1) }}",
                "{{ '%-99999999s'|format('a') }}",
                "{{ '%.99999999f'|format(1.5) }}",
                "{{ '%*d'|format(99999999, 1) }}",
                "{{ '%.*f'|format(99999999, 1.5) }}",
                "{{ '%(a)999999s'|format(a=1) }}",
                "{{ 'a'|indent(99999999) }}",
                "{{ 'a'|center(99999999) }}",
                "{{ 'a'|ljust(99999999) }}",
                "{{ [1]|batch(99999999, 'x')|first|length }}",
                "{{ [1]|slice(99999999, 'x')|length }}",
                "{{ [1]|slice(99999999)|length }}",
                "{{ [[[1]]]|tojson(99999999) }}",
                "{{ [[[1]]]|tojson(indent=99999999) }}",
                "{{ delegate|pprint }}",
                "{{ now|date('%255Y' * 60) }}",
                "{{ ('%99d' * 6000)|format(1) }}",
                "{{ ('%(a)99s' * 6000)|format(a='b' * 5000) }}",
            ]),
        ),
        category(
            "replacing and joining",
            (
                "{{ 'a.b.c'|replace('.', ', ') }} {{ ['x', 'y']|join(' and ') }}",
                "a, b, c x and y",
            ),
            filled(
                &[
                    "{{ ('a' * @)|replace('a', 'b' * @) }}",
                    "{{ ('a' * @)|replace('', 'b' * @) }}",
                    "{{ range(9000)|join('b' * @) }}",
                    "{{ ('a' * @)|join('b' * @) }}",
                    "{{ ('a' * @)|split('')|join('b' * @) }}",
                    "{{ ('a' * @)|list|join('b' * @) }}",
                ],
                &["9000", "15000"],
            ),
        ),
        category(
            "huge numbers",
            (
                "{{ 2 ** 40 }} {{ 10 // 3 }} {{ 1.5 * 2 }}",
                "1099511627776 3 3.0",
            ),
            texts(&[
                "{{ delegate.id ** 9999 }}",
                "{{ delegate.id ** delegate.id ** 99 }}",
                "{{ 9223372036854775807 + delegate.id }}",
                "{{ 9223372036854775807 * delegate.id }}",
                "{{ -9223372036854775807 - delegate.id }}",
                "{{ delegate.id // 0 }}",
                "{{ delegate.id % 0 }}",
                "{{ delegate.id / 0 }}",
                "{{ 0.0 / (delegate.id - 7) }}",
                "{{ 1e308 * delegate.id * 10 }}",
                "{{ 170141183460469231731687303715884105727 + delegate.id }}",
                "{{ 99999999999999999999999999999999999999999999 }}",
                "{{ 'a' * (delegate.id ** 12) }}",
                "{{ [1] * 9223372036854775807 * delegate.id }}",
                "{{ 'abc'[9223372036854775808:] }}",
            ]),
        ),
    ]
}

fn structure() -> Vec<Category> {
    let nest = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    vec![
        category(
            "recursion",
            (
                "{% macro down(n) %}{{ n }}{% if n > 0 %}{{ down(n - 1) }}{% endif %}{% endmacro %}{{ down(9) }}",
                "9876543210",
            ),
            texts(&[
                "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
                "{% macro m(n) %}{{ n }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
                "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
                "{% macro m(x) %}{% if x %}{{ m(x) }}{{ m(x) }}{% endif %}{% endmacro %}{{ m(true) }}",
                "{% macro m() %}{% set x %}{{ m() }}{% endset %}{% endmacro %}{{ m() }}",
                "{% macro m() %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
                "{% macro m() %}{{ caller() }}{% endmacro %}{% macro k() %}{% call m() %}{{ k() }}{% endcall %}{% endmacro %}{{ k() }}",
                "{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}",
                "{% macro m() %}{% for i in range(9) %}{{ m() }}{% endfor %}{% endmacro %}{{ m() }}",
                "{% macro m() %}{% with a = 1 %}{% with b = 1 %}{{ m() }}{% endwith %}{% endwith %}{% endmacro %}{{ m() }}",
                "{% macro m(x=1) %}{{ m(x=x) ~ m(x=x) }}{% endmacro %}{{ m() }}",
                "{% for x in [[1]] recursive %}{{ loop(x) }}{% endfor %}",
                "{% for x in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
                "{% for x in [1] recursive %}{% set y = loop([1]) %}{% endfor %}",
                "{% for x in [1] %}{{ loop([1]) }}{% endfor %}",
                "{% for x in [1] %}{% set f = loop %}{{ f([1]) }}{% endfor %}",
                "{% for x in [1] %}{% macro m(f) %}{{ f([1]) }}{% endmacro %}{{ m(loop) }}{% endfor %}",
            ]),
        ),
        category(
            "deep syntax",
            (
                "{{ ((((1 + 2) * 3)))|abs|abs }}{% if 1 %}{% if 1 %}x{% endif %}{% endif %}",
                "9x",
            ),
            [140, 1_000, 8_000, 20_000]
                .iter()
                .flat_map(|depth| {
                    [
                        format!("{{{{ {} }}}}", nest("(", "1", ")", *depth)),
                        format!("{{{{ {} }}}}", nest("[", "1", "]", *depth)),
                        format!("{{{{ {} }}}}", nest("{1:", "1", "}", *depth)),
                        format!("{{{{ delegate{} }}}}", ".a".repeat(*depth)),
                        format!("{{{{ delegate{} }}}}", "[0]".repeat(*depth)),
                        format!("{{{{ delegate{} }}}}", "|string".repeat(*depth)),
                        format!("{{{{ 1{} }}}}", "+1".repeat(*depth)),
                        format!("{{{{ delegate.a{} }}}}", "~1".repeat(*depth)),
                        format!("{{{{ {}1 }}}}", "not ".repeat(*depth * 2)),
                        format!("{{{{ {}1 }}}}", "-".repeat(*depth * 2)),
                        format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(*depth)),
                        format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(*depth)),
                    ]
                })
                .chain([200, 2_000, 12_000].iter().flat_map(|depth| {
                    [
                        nest("{% if 1 %}", "", "{% endif %}", *depth),
                        nest("{% for x in [1] %}", "", "{% endfor %}", *depth),
                        nest("{% with %}", "", "{% endwith %}", *depth),
                        nest("{% filter upper %}", "", "{% endfilter %}", *depth),
                    ]
                }))
                .collect(),
        ),
        category(
            "too large a source",
            ("{# one line #}plain", "plain"),
            vec![
                "x".repeat(300 * 1024),
                "\n".repeat(100_000),
                "{{1}}".repeat(40_000),
                "{#".to_owned() + &"x".repeat(300 * 1024) + "#}",
                format!("{{{{ '{}' }}}}", "x".repeat(20_000)),
                format!("{{{{ [{}] }}}}", "1,".repeat(3_000)),
                format!("{{{{ dict({}) }}}}", "a=1,".repeat(3_000)),
                format!("{{% set {} = [] %}}", "a,".repeat(3_000)),
                "a\0b".to_owned(),
            ],
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn reach() -> Vec<Category> {
    vec![
        category(
            "files and other templates",
            ("{{ 'etc/passwd'|upper }}", "ETC&#x2f;PASSWD"),
            filled(
                &[
                    "{% include '@' %}",
                    "{% extends '@' %}",
                    "{% import '@' as x %}",
                    "{% from '@' import x %}",
                    "{{ open('@') }}",
                    "{{ read('@') }}",
                    "{{ '@'|include }}",
                    "{{ '@'|readfile }}",
                ],
                &["/etc/passwd", "../gatepost.db", "http://127.0.0.1/"],
            ),
        ),
        category(
            "out of the language",
            ("{{ delegate.__class__ }}{{ delegate['__proto__'] }}.", "."),
            texts(&[
                "{{ ''.__class__.__mro__[1].__subclasses__() }}",
                "{{ delegate.__init__.__globals__['os'].popen('id').read() }}",
                "{{ self.__init__() }}",
                "{{ config }}",
                "{{ request }}",
                "{{ env }}",
                "{{ environ }}",
                "{{ state }}",
                "{{ debug() }}",
                "{{ cycler() }}",
                "{{ joiner() }}",
                "{{ lipsum() }}",
                "{{ super() }}",
                "{{ __list(1) }}",
                "{{ 1|__list }}",
                "{{ 1|__copy }}",
                "{{ [1]|map('__concat', 'a' * 300)|list }}",
                "{{ range.call() }}",
                "{{ (range)(3)(4) }}",
                "{{ delegate.firstName() }}",
                "{{ delegate.clear() }}",
                "{{ [].append(1) }}",
                "{{ 'a'.join([]) }}",
                "{% do delegate.update({}) %}",
                "{% set delegate.firstName = 'x' %}",
                "{% block a %}{% endblock %}",
                "{% break %}",
                "{% python %}",
                "{{ 1|attr }}",
            ]),
        ),
        category(
            "around the escaping",
            ("{{ '<b>' }}{{ '<b>'|e }}", "&lt;b&gt;&lt;b&gt;"),
            filled(
                &[
                    "{{ @|safe }}",
                    "{{ @|mark_safe }}",
                    "{{ Markup(@) }}",
                    "{% autoescape false %}{{ @ }}{% endautoescape %}",
                    "{% autoescape 'none' %}{{ @ }}{% endautoescape %}",
                    "{% filter safe %}{{ @ }}{% endfilter %}",
                    "{{ [@]|map('safe')|first }}",
                    "{{ @|unescape }}",
                ],
                &["'<script>'", "delegate.lastName"],
            ),
        ),
        category(
            "arguments unpacked",
            (
                "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}",
                "1213",
            ),
            texts(&[
                "{{ range(*[1, 2]) }}",
                "{{ dict(**{'a': 1}) }}",
                "{{ [1]|join(*['a']) }}",
                "{{ 1 is divisibleby(*[2]) }}",
                "{% macro m(a) %}{% endmacro %}{{ m(*range(9000), *range(9000)) }}",
                "{% macro m(a) %}{% endmacro %}{{ m(**delegate) }}",
                "{{ loop(*[1]) }}",
                "{{ 'a'|replace(*['a', 'b']) }}",
                "{{ namespace(**delegate) }}",
                "{{ 1 < 2 < 3 < delegate.id }}",
            ]),
        ),
        category(
            "broken syntax",
            ("{{ '{{' }} }} {% raw %}{% x{% endraw %}", "{{ }} {% x"),
            texts(&[
                "{{",
                "{{ }}",
                "{{ 1",
                "{% if",
                "{% if 1 %}",
                "{% endfor %}",
                "{% for %}{% endfor %}",
                "{% for x %}{% endfor %}",
                "{{ 'a }}",
                "{{ a b }}",
                "{{ 1 + }}",
                "{{ | upper }}",
                "{{ (1 }}",
                "{{ [1 }}",
                "{% set %}",
                "{% set 1 = 2 %}",
                "{% macro %}{% endmacro %}",
                "{% raw %}",
                "{# open",
                "{{ \u{1f980} }}",
                "{% else %}",
                "{{ 1 if }}",
                "{{ a. }}",
                "{{ '\\u12' }}",
            ]),
        ),
    ]
}

fn categories() -> Vec<Category> {
    [loops(), growth(), work(), structure(), reach()]
        .into_iter()
        .flatten()
        .collect()
}

/// Without optimisation everything takes far longer; what is bounded there is bounded here too.
const LONGEST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1_500 } else { 50 });

#[test]
fn every_hostile_template_ends_at_once_with_a_clear_error() {
    let categories = categories();
    let attempts: usize = categories.iter().map(|all| all.attempts.len()).sum();
    assert!(categories.len() >= 15, "{} categories", categories.len());
    assert!(attempts >= 300, "{attempts} attempts");
    let before = memory();
    let mut wrong = Vec::new();
    for category in &categories {
        assert!(category.attempts.len() >= 8, "{}", category.name);
        for attempt in &category.attempts {
            let started = Instant::now();
            let answer = rendered(attempt, Format::Html);
            let took = started.elapsed();
            let shown: String = attempt.chars().take(150).collect();
            match answer {
                Ok(page) => wrong.push(format!(
                    "{}: {shown} gave {} bytes",
                    category.name,
                    page.len()
                )),
                Err(fault) if fault.message.contains("cannot be worked out") => {
                    wrong.push(format!("{}: {shown} made it panic", category.name));
                }
                Err(fault) if fault.message.len() < 5 || fault.message.len() > 400 => {
                    wrong.push(format!("{}: {shown}: {fault}", category.name));
                }
                Err(_) if took > LONGEST => {
                    wrong.push(format!("{}: {shown} took {took:?}", category.name));
                }
                Err(_) => {}
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let grown = memory().saturating_sub(before);
    assert!(grown < 96 << 20, "memory grew by {grown} bytes");
}

fn memory() -> usize {
    memory_stats::memory_stats().map_or(0, |stats| stats.physical_mem)
}

#[test]
fn each_category_has_a_twin_that_works() {
    let wrong: Vec<String> = categories()
        .iter()
        .map(|category| (category, rendered(category.twin.0, Format::Html)))
        .filter(|(category, made)| made.as_deref() != Ok(category.twin.1))
        .map(|(category, made)| format!("{}: {made:?}", category.name))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
