//! Too often, and too much of it: loops, ranges, repeats, and what grows at each step.

use super::{Category, category, filled, texts};

const NUMBERS: [&str; 5] = [
    "200000",
    "99999999",
    "4000000000000000000",
    "10 ** 18",
    "(4 * 10 ** 6)",
];

pub(super) fn loops() -> Vec<Category> {
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
            ("{{ range(100000)|length }}", "100000"),
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
            ("{{ ([0] * 3)|length }}", "3"),
            filled(
                &[
                    "{{ 'abcd' * @ }}",
                    "{{ @ * 'abcd' }}",
                    "{{ ([1, 2, 3, 4] * @)|list|length }}",
                    "{% set n = @ %}{{ 'abcdefgh' * n }}",
                    "{% set n = @ %}{{ ([delegate] * n * n)|length }}",
                    "{{ ('abcd' ~ 'efgh') * @ }}",
                ],
                &NUMBERS,
            ),
        ),
        category(
            "constants worked out while compiling",
            ("{{ (2 ** 8) * 3 }}", "768"),
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

pub(super) fn growth() -> Vec<Category> {
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
            ("{% set x = 'ab' %}{% set x %}{{ x }}{{ x }}{% endset %}{{ x ~ x }}", "abababab"),
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
            ["{{ x }}", "{{ x|tojson }}", "{{ x|string|length }}", "{{ x|join }}", "{{ [x]|select('eq', y)|list }}", "{{ {'a': x}|urlencode }}", "{{ x|upper }}", "{{ '%s'|format(x) }}"]
                .iter()
                .map(|end| {
                    format!(
                        "{{% set x = ['a'] %}}{{% set y = ['a'] %}}{}{end}",
                        "{% set x = [x, x] %}{% set y = [y, y] %}".repeat(40)
                    )
                })
                .chain(["{{ n.x|tojson }}", "{{ n.x }}"].iter().map(|end| {
                    format!("{{% set n = namespace(x=[1]) %}}{{% for i in range(90) %}}{{% set n.x = [n.x] %}}{{% endfor %}}{end}")
                }))
                .collect(),
        ),
        category(
            "what holds itself",
            ("{% set n = namespace(x=1) %}{% set n.x = [n.x] %}{{ n.x }}", "[1]"),
            ["n", "[n]", "{'a': n}", "[[n], n]"]
                .iter()
                .flat_map(|own| {
                    ["{{ n.x|tojson }}", "{{ n.x|join }}", "{{ n|string }}"].map(|end| {
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
