//! The content that the header of a column means, by itself and beside the others.

use super::{
    Target, What,
    headers::{
        CAPACITIES, DELEGATES, DEVICES, GUEST_AFTER, GUEST_BEFORE, NAMES, ROOMS, WHOLE_NAMES,
        Words, any_of, folded, has, named_by,
    },
    status,
    target::properties,
};
use crate::{
    core::records::Kind,
    domain::delegates,
    types::selector::{DelegateCode, DeviceCode},
};

/// A way to know the content of a column by its header.
pub(super) type Finder = fn(What, &str) -> Option<Target>;

/// The ways for lists of others, the surest first.
pub(super) const FINDERS: &[Finder] = &[of_attendee, property, synonym, participant, by_words];

/// Returns whether a text is a header that is known.
pub(super) fn is_known(what: What, text: &str) -> bool {
    let mut found = FINDERS.iter().filter_map(|find| find(what, text));
    found.any(|target| target.name().is_some())
        || what == What::Delegates
            && (has(NAMES, &folded(text))
                || has(WHOLE_NAMES, &folded(text))
                || status::manner(text).is_some())
}

/// The property of a name, in any spelling; `data` must be spelled exactly.
pub(super) fn property(what: What, name: &str) -> Option<Target> {
    let folded_name = folded(name);
    let found = properties(what).find(|one| match one.kind {
        Kind::Document => one.name == name && what == What::Interactions,
        _ => folded(one.name) == folded_name,
    });
    found.map(Target::of)
}

/// The property that a header is known to mean.
pub(super) fn synonym(what: What, header: &str) -> Option<Target> {
    let header = folded(header);
    if what == What::Devices && has(CAPACITIES, &header) {
        return Target::parse(what, "data.Access.capacity").ok();
    }
    let found = properties(what).find(|one| one.has_alias(&header));
    found.map(Target::of)
}

fn named(what: What, header: &str) -> Option<Target> {
    property(what, header).or_else(|| synonym(what, header))
}

/// Returns whether a shop's list may have the property of the guest and of the buyer.
fn is_of_guest(name: &str) -> bool {
    delegates::RESOURCE.property(name).is_some_and(|field| {
        field.is_own && field.kind == Kind::Text && name != "rawFlags" || name == "barcode"
    })
}

/// The property that a header means which says whose it is: a shop's list has the buyer's e-mail, too.
pub(super) fn of_attendee(what: What, header: &str) -> Option<Target> {
    if what != What::Delegates {
        return None;
    }
    let header = folded(header);
    let before = GUEST_BEFORE.split_whitespace();
    let after = GUEST_AFTER.split_whitespace();
    before
        .filter_map(|guest| header.strip_prefix(guest))
        .chain(after.filter_map(|guest| header.strip_suffix(guest)))
        .filter_map(|rest| named(what, rest))
        .find(|target| target.name().is_some_and(|name| is_of_guest(&name)))
}

/// Returns what a header means beside the columns that are known by themselves: where nothing else is a last name, a
/// column of names is one, or has whole names where first names have no column. A column of rooms has the names of devices,
/// where no other has them.
pub(super) fn beside(what: What, header: &str, known: &[Option<Target>]) -> Option<Target> {
    let is_known = |name: &str| {
        let mut names = known.iter().flatten().filter_map(Target::name);
        names.any(|known| known == name)
    };
    if what == What::Devices && has(ROOMS, &folded(header)) {
        return if is_known("name") {
            (!is_known("room")).then_some(Target::Room)
        } else {
            property(what, "name")
        };
    }
    if what != What::Delegates || is_known("lastName") {
        return None;
    }
    let words = Words::of(header);
    let is_name = !words.is_of_others()
        && [folded(header), words.outside()]
            .iter()
            .any(|header| has(NAMES, header) || has(WHOLE_NAMES, header) && !is_known("firstName"));
    match is_name {
        true if is_known("firstName") => property(what, "lastName"),
        true => (!is_known("name")).then_some(Target::WholeName),
        false => None,
    }
}

/// The property that the words of a header mean: `Last name / Surname`, `E-mail (private)`,
/// `Your mobile number`. Every part must mean the same, and no word may be unknown.
pub(super) fn by_words(what: What, header: &str) -> Option<Target> {
    let words = Words::of(header);
    if words.is_of_others() {
        return None;
    }
    let known = |part: &Vec<String>| {
        let mut found = named_by(part)
            .filter_map(|name| named(what, &name).or_else(|| participant(what, &name)));
        // Whatever else a cell holds, it fits those that are text.
        let is_strict =
            |target: &Target| matches!(target.kind(), Some(Kind::Flag | Kind::Reference));
        let found = found.next();
        found.filter(|target| what == What::Interactions || !is_strict(target))
    };
    if has(NAMES, &words.outside()) && !words.bracketed.is_empty() {
        // `Name (Company)`, `Name (first name)`.
        return known(&words.bracketed);
    }
    let mut parts = words.parts.iter().map(known);
    let first = parts.next()??;
    parts
        .all(|part| part.as_ref() == Some(&first))
        .then_some(first)
}

/// The properties of a guest that a header may mean, for what is not sure enough to take it for one.
pub(super) fn resembled(what: What, header: &str) -> Vec<String> {
    if what != What::Delegates {
        return Vec::new();
    }
    let words = Words::of(header);
    let parts = words.parts.iter().chain([&words.bracketed]);
    let of_guest = |name: String| {
        let found = named(what, &name).and_then(|target| target.name());
        let is_name = has(NAMES, &name) || has(WHOLE_NAMES, &name);
        found
            .filter(|name| is_of_guest(name))
            .or_else(|| is_name.then(|| "lastName".to_owned()))
    };
    parts
        .flat_map(|part| any_of(part).filter_map(of_guest))
        .collect()
}

/// The participant that a header of interactions means: `delegate`, `delegate barcode`,
/// `device code`, or a delegate's code alone.
pub(super) fn participant(what: What, header: &str) -> Option<Target> {
    if what != What::Interactions {
        return None;
    }
    let header = folded(header);
    let ordinals = ["first", "second", "third"];
    let stripped = ordinals.map(|ordinal| header.strip_prefix(ordinal));
    let at = stripped.iter().position(Option::is_some);
    let rest = at.and_then(|at| stripped[at]).unwrap_or(&header);
    let delegate_codes = DelegateCode::ALL.iter().map(|code| code.name());
    let device_codes = DeviceCode::ALL.iter().map(|code| code.name());
    for (words, names, codes) in [
        (
            DELEGATES,
            ["firstDelegate", "secondDelegate", "thirdDelegate"],
            delegate_codes.collect::<Vec<_>>(),
        ),
        (
            DEVICES,
            ["firstDevice", "secondDevice", "thirdDevice"],
            device_codes.collect(),
        ),
    ] {
        let name = names[at.unwrap_or(0)];
        for rest in words.split(' ').filter_map(|word| rest.strip_prefix(word)) {
            if rest.is_empty() {
                return property(what, name);
            }
            if let Some(code) = codes.iter().find(|code| folded(code) == rest) {
                return Some(Target::Participant { name, code });
            }
        }
    }
    let scanned = delegates::FIELDS.iter().find(|field| {
        let is_code = ["barcode", "rfid", "uhfId"].contains(&field.name);
        is_code
            && (folded(field.name) == header || field.name == "barcode" && field.has_alias(&header))
    })?;
    Some(Target::Participant {
        name: "firstDelegate",
        code: scanned.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participants_are_named_in_several_ways() {
        for (header, name) in [
            ("delegate", "firstDelegate"),
            ("Delegate barcode", "firstDelegate"),
            ("Barcode", "firstDelegate"),
            ("Ticket code", "firstDelegate"),
            ("second delegate external id", "secondDelegate"),
            ("Device code", "firstDevice"),
            ("Gate", "firstDevice"),
        ] {
            let found = participant(What::Interactions, header).and_then(|one| one.name());
            assert_eq!(found.as_deref(), Some(name), "{header}");
        }
        assert_eq!(participant(What::Interactions, "device barcode"), None);
    }
}
