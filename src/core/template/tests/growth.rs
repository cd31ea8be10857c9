//! What a template is not saved with because it could double without bound, and what it is.

use super::{NAMES, check};

#[test]
fn what_could_double_is_refused_with_what_to_write_instead() {
    for (source, line, message) in [
        (
            "\n{% set x = delegate.firstName ~ delegate.lastName %}",
            2,
            "write {% set x %}{{ a }}{{ b }}{% endset %}",
        ),
        ("{% with x = 'a' ~ 1 %}{% endwith %}", 1, "`~` joins texts"),
        (
            "{% set x = 'a' + delegate.firstName %}",
            1,
            "`+` joins texts",
        ),
        (
            "{% set x = 'a' %}\n{% set y = delegate.firstName + x %}",
            2,
            "`+` joins texts",
        ),
        (
            "{% set n = namespace(t='') %}{% set n.t = n.t + delegate.firstName %}",
            1,
            "`+` joins texts",
        ),
        ("{% set x = x + x %}", 1, "write 2 * x"),
        ("{% set n.x = n.x + now + n.x %}", 1, "write 2 * n.x"),
        ("{{ '-' * 5 }}", 1, "cannot be repeated"),
        ("{{ delegate.id * '-' }}", 1, "cannot be repeated"),
        ("{{ ('a' ~ 'b') * 5 }}", 1, "cannot be repeated"),
        (
            "{{ 5 * ('a' if delegate.id else 'b') }}",
            1,
            "cannot be repeated",
        ),
        ("{{ (1, 2) * 5 }}", 1, "cannot be repeated"),
        (
            "{% set x %}a{% endset %}{{ x * 5 }}",
            1,
            "cannot be repeated",
        ),
        ("{{ delegate.firstName * 10000000 }}", 1, "at most 1000000"),
        ("{{ delegate.firstName * 10 ** 7 }}", 1, "at most 1000000"),
    ] {
        let fault = check(source, NAMES, &[]).unwrap_err();
        assert_eq!(fault.line, Some(line), "{source}");
        assert!(fault.message.contains(message), "{source}: {fault}");
    }
}

#[test]
fn numbers_are_counted_and_texts_are_joined_on_the_page() {
    for source in [
        "{{ delegate.data.price * delegate.data.quantity }}",
        "{{ delegate.data.price * 100 }} {{ 2 * delegate.id ** 2 }} {{ 'abc'|length * 3 }}",
        "{% set total = delegate.id %}{% set total = total + delegate.data.price * 1.25 %}",
        "{% set total = delegate.id %}{% set total = total + total * 0.25 %}{{ total * 2 }}",
        "{% set n = namespace(t=0) %}{% set n.t = n.t + delegate.id|int + delegate.seats|int %}",
        "{% set list = [1] + [2] %}{% set x = (1 + 2) * (3 + 4) %}",
        "{% set x = (delegate.price if delegate.kind == 'vip' else 0) * 2 %}",
        "{{ delegate.firstName ~ ' ' ~ delegate.lastName }}{{ 'a' + delegate.firstName }}",
        "{% set x %}{{ delegate.firstName ~ '-' }}{% endset %}{{ x ~ x }}",
        "{% if delegate.firstName ~ 'x' == 'Adax' %}{% endif %}",
        "{% raw %}{% set x = x ~ x %}{% endraw %}{# {{ 'x' * 9 }} #}{{ \"it's ~ * +\" }}",
    ] {
        assert_eq!(check(source, NAMES, &[]), Ok(()), "{source}");
    }
}
