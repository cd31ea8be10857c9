//! The names that a template may use.

use crate::core::template::{Known, check};

const NAMES: &[&str] = &["delegate", "settings", "now"];
const KNOWN: &[Known<'_>] = &[
    (
        "delegate",
        &["firstName", "lastName", "parent", "data", "id"],
    ),
    ("delegate.parent", &["id", "_type"]),
    ("settings", &["name"]),
    ("now", &[]),
];

#[test]
fn a_property_that_cannot_be_there_is_told_with_its_line() {
    for (source, line, told) in [
        (
            "a\n{{ delegate.fistName }}",
            2,
            "delegate has no property \"fistName\"; did you mean \"firstName\"?",
        ),
        ("\n\n{{ delegate['lastname']|upper }}", 3, "\"lastName\"?"),
        (
            "{% if delegate.nickname %}x{% endif %}",
            1,
            "there are firstName",
        ),
        ("{{ 'x' if delegate.nickname is defined }}", 1, "nickname"),
        ("{% for x in delegate.sesions %}{% endfor %}", 1, "sesions"),
        ("{% set x = delegate.fistName %}{{ x }}", 1, "firstName"),
        (
            "{{ delegate.parent.firstName }}",
            1,
            "delegate.parent has no",
        ),
        ("{{ settings.title }}", 1, "there are name"),
        ("{{ now.year }}", 1, "there are none"),
        (
            "{% macro hi(x) %}{{ delegate.fistName }}{% endmacro %}{{ hi(1) }}",
            1,
            "firstName",
        ),
    ] {
        let fault = check(source, NAMES, KNOWN).unwrap_err();
        assert_eq!(fault.line, Some(line), "{source}");
        assert!(fault.message.contains(told), "{source}: {}", fault.message);
    }
}

#[test]
fn what_can_be_there_passes() {
    for source in [
        "{{ delegate.firstName }} {{ delegate['lastName'] }}",
        "{{ delegate.data.Anything.at['all'] }}",
        "{{ delegate[settings.name] }}{{ delegate|tojson }}",
        "{{ delegate.firstName.anything }}",
        // Variables of its own may be called as it likes.
        "{% for delegate in [1] %}{{ delegate.any }}{% endfor %}",
        "{% set now = {'year': 1} %}{{ now.year }}",
        "{% macro hi(settings) %}{{ settings.title }}{% endmacro %}{{ hi(delegate) }}",
        "{% for x in delegate.data.list %}{{ x.y }}{% endfor %}",
    ] {
        assert_eq!(check(source, NAMES, KNOWN), Ok(()), "{source}");
    }
}
