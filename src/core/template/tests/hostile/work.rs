//! Much work behind few words: in filters, operators, formats and numbers.

use super::{Category, category, filled, texts};

#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn work() -> Vec<Category> {
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
            "long ways to a name",
            (
                "{% with a = 1 %}{% for b in [2] %}{% with c = 3 %}{{ a }}{{ b }}{{ c }}{{ delegate.id }}{% endwith %}{% endfor %}{% endwith %}",
                "1237",
            ),
            [10, 19, 50, 90]
                .iter()
                .flat_map(|depth| {
                    [
                        ("{% with %}", "{% endwith %}"),
                        ("{% with a = 1, b = 2, c = 3 %}", "{% endwith %}"),
                        ("{% for q in [1] %}", "{% endfor %}"),
                    ]
                    .map(|(open, close)| {
                        let body = over(&"{% if delegate %}{% endif %}".repeat(40));
                        format!("{}{body}{}", open.repeat(*depth), close.repeat(*depth))
                    })
                })
                .collect(),
        ),
        category(
            "calls of macros",
            (
                "{% macro m(a) %}{{ a }}{% endmacro %}{% for i in range(3) %}{{ m(i) }}{% do m(i) %}{% endfor %}",
                "012",
            ),
            [
                "{{ m() }}",
                "{% do m() %}",
                "{{ m(a=i) }}",
                "{% call m() %}{% endcall %}",
                "{{ m(m) }}",
                "{% set x = m() %}",
                "{% if m() %}{% endif %}",
                "{{ m()|upper }}",
            ]
            .iter()
            .map(|call| {
                let body = over(&call.repeat(40));
                format!("{{% macro m(a) %}}{{% endmacro %}}{body}")
            })
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
                "{{ 9223372036854775807 * delegate.id }}",
                "{{ delegate.id // 0 }}",
                "{{ delegate.id % 0 }}",
                "{{ delegate.id / 0 }}",
                "{{ 0.0 / (delegate.id - 7) }}",
                "{{ 1e308 * delegate.id * 10 }}",
                "{{ 340282366920938463463374607431768211455 + delegate.id }}",
                "{{ 99999999999999999999999999999999999999999999 }}",
                "{{ 'a' * (delegate.id ** 12) }}",
                "{{ [1] * 9223372036854775807 * delegate.id }}",
                "{{ 'abc'[9223372036854775808:] }}",
            ]),
        ),
    ]
}
