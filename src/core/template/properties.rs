//! Which properties a template reads of the records that it sees: a misspelt one prints nothing, and
//! nobody notices before the guests do.

use super::{Fault, Known, guard::names_of_its_own};
use crate::types::text;
use minijinja::machinery::{Instruction, Instructions};

/// Checks what is read of variables that are not the template's own. What it keeps in a variable of
/// its own, or computes, is not followed.
pub(super) fn check(compiled: &Instructions<'_>, known: &[Known<'_>]) -> Result<(), Fault> {
    let own = names_of_its_own(compiled);
    for at in 0.. {
        let Some(instruction) = compiled.get(at) else {
            break;
        };
        let Instruction::Lookup(name) = instruction else {
            continue;
        };
        if own.contains(name) {
            continue;
        }
        let mut path = (*name).to_owned();
        let mut next = at + 1;
        while let Some((_, properties)) = known.iter().find(|(known, _)| *known == path) {
            let Some((property, after)) = property(compiled, next) else {
                break;
            };
            if !properties.contains(&property.as_str()) {
                let hint = text::hint(&property, properties);
                let property = text::shortened(&property);
                let line = compiled.get_line(next).unwrap_or(1);
                let fault = format!("{path} has no property \"{property}\"; {hint}");
                return Err(Fault::at(line, fault));
            }
            path = format!("{path}.{property}");
            next = after;
        }
    }
    Ok(())
}

/// The property that is read next of the value at hand, and what comes after that.
fn property(compiled: &Instructions<'_>, at: u32) -> Option<(String, u32)> {
    match (compiled.get(at)?, compiled.get(at + 1)) {
        (Instruction::GetAttr(name), _) => Some(((*name).to_owned(), at + 1)),
        // `delegate["firstName"]`
        (Instruction::LoadConst(name), Some(Instruction::GetItem)) => {
            Some((name.as_str()?.to_owned(), at + 2))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::core::template::check;

    const NAMES: &[&str] = &["delegate", "settings", "now"];
    const KNOWN: &[super::Known<'_>] = &[
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
}
