//! The language itself: recursion, depth, broken syntax, and ways out of it.

use super::{Category, category, filled, texts};

pub(super) fn structure() -> Vec<Category> {
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
                "{{1}}".repeat(60_000),
                "{#".to_owned() + &"x".repeat(300 * 1024) + "#}",
                format!("{{{{ [{}] }}}}", "1,".repeat(3_000)),
                format!("{{{{ dict({}) }}}}", "a=1,".repeat(3_000)),
                format!("{{% set {} = [] %}}", "a,".repeat(3_000)),
            ],
        ),
    ]
}

pub(super) fn reach() -> Vec<Category> {
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
