//! Two who changed one record. The form remembers how the record was when it was opened; so it can be
//! told what this editor touched, and what the other did.

use super::draft::{CODES, Detail, Draft, Mark, REFERENCES, TEXTS, Text, shown, sorted};
use crate::types::{json, secret};
use serde_json::{Map, Value};

/// Sections that are longer are remembered by their digest alone: a form has no room for them twice.
const SECTIONS_MAX_BYTES: usize = 64 * 1024;

/// How a record was when the form was opened, as the form keeps it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Seen {
    /// Texts, codes and references by name.
    fields: Map<String, Value>,
    flags: String,
    /// Key, value, and whether that is JSON.
    details: Vec<(String, String, bool)>,
    sections: Option<String>,
    digest: Option<String>,
}

/// A draft as the form remembers it.
pub(super) fn remembered(draft: &Draft) -> String {
    let fields = draft
        .texts
        .iter()
        .chain(&draft.codes)
        .chain(&draft.references);
    let details = draft.details.iter();
    let short = draft.sections.len() <= SECTIONS_MAX_BYTES;
    let seen = Seen {
        fields: fields
            .map(|field| (field.name.to_owned(), field.value.clone().into()))
            .collect(),
        flags: draft.flags.clone(),
        details: details
            .map(|one| (one.key.clone(), one.value.clone(), one.json))
            .collect(),
        sections: short.then(|| draft.sections.clone()),
        digest: (!short).then(|| digest(&draft.sections)),
    };
    serde_json::to_string(&seen).unwrap_or_default()
}

fn digest(sections: &str) -> String {
    secret::hex(&secret::digest(parsed(sections).to_string().as_bytes()))
}

/// Sections as JSON; nothing at all where they are none.
fn parsed(sections: &str) -> Value {
    serde_json::from_str(sections).unwrap_or_else(|_| Value::Object(Map::new()))
}

/// The draft that a form remembers, beside what was typed; none where it cannot be read.
pub(super) fn recalled(text: &str, typed: &Draft) -> Option<Draft> {
    let seen: Seen = serde_json::from_str(text).ok()?;
    let field = |name: &'static str| {
        let value = seen.fields.get(name).and_then(Value::as_str);
        Text {
            name,
            value: value.unwrap_or_default().to_owned(),
            mark: None,
        }
    };
    let sections = match (&seen.sections, &seen.digest) {
        (Some(sections), _) => sections.clone(),
        (None, Some(known)) if *known == digest(&typed.sections) => typed.sections.clone(),
        // Touched, and nobody knows what of it.
        (None, _) => String::new(),
    };
    Some(Draft {
        texts: TEXTS.map(field).to_vec(),
        codes: CODES.map(field).to_vec(),
        references: REFERENCES.map(field).to_vec(),
        details: seen
            .details
            .into_iter()
            .map(|(key, value, json)| Detail {
                key,
                value,
                json,
                mark: None,
            })
            .collect(),
        flags: seen.flags,
        sections,
        flags_mark: None,
        sections_mark: None,
    })
}

/// What the form shows to the second of two: what they touched as they typed it, marked; everything
/// else as it is now.
pub(super) fn merged(seen: &Draft, typed: &Draft, now: &Draft) -> Draft {
    let (sections, sections_mark) = sections(seen, typed, now);
    let (flags, flags_mark) = flags(seen, typed, now);
    Draft {
        texts: texts(&seen.texts, &typed.texts, &now.texts),
        codes: texts(&seen.codes, &typed.codes, &now.codes),
        references: texts(&seen.references, &typed.references, &now.references),
        details: details(seen, typed, now),
        flags,
        sections,
        flags_mark,
        sections_mark,
    }
}

/// The mark of something that was touched.
fn mark<T: PartialEq>(seen: &T, now: &T, shown: impl FnOnce() -> String) -> Mark {
    Mark {
        now: (seen != now).then(shown),
    }
}

fn texts(seen: &[Text], typed: &[Text], now: &[Text]) -> Vec<Text> {
    let all = seen.iter().zip(typed).zip(now);
    all.map(|((seen, typed), now)| {
        if typed.value == seen.value || typed.value == now.value {
            return now.clone();
        }
        Text {
            mark: Some(mark(&seen.value, &now.value, || now.value.clone())),
            ..typed.clone()
        }
    })
    .collect()
}

fn flags(seen: &Draft, typed: &Draft, now: &Draft) -> (String, Option<Mark>) {
    let [seen, typed, now] = [seen, typed, now].map(|draft| sorted(&draft.flags));
    let added = typed.chars().filter(|flag| !seen.contains(*flag));
    let kept = now
        .chars()
        .filter(|flag| typed.contains(*flag) || !seen.contains(*flag));
    let flags = sorted(&kept.chain(added).collect::<String>());
    let own = typed != seen && flags != now;
    let mark = own.then(|| mark(&seen, &now, || now.clone()));
    (flags, mark)
}

fn details(seen: &Draft, typed: &Draft, now: &Draft) -> Vec<Detail> {
    let find = |draft: &Draft, key: &str| {
        let found = draft.details.iter().find(|detail| detail.key == key);
        found.map(|detail| (detail.value.clone(), detail.json))
    };
    let mut keys: Vec<&String> = now.details.iter().map(|detail| &detail.key).collect();
    for detail in &typed.details {
        if !detail.key.is_empty() && !keys.contains(&&detail.key) {
            keys.push(&detail.key);
        }
    }
    let mut details = Vec::new();
    for key in keys {
        let (was, mine, theirs) = (find(seen, key), find(typed, key), find(now, key));
        let touched = mine != was && mine != theirs;
        let value = if touched {
            // Taken out: an empty line says so.
            Some(mine.unwrap_or_default())
        } else {
            theirs.clone()
        };
        let Some((value, json)) = value else {
            continue;
        };
        let shown = || theirs.clone().unwrap_or_default().0;
        details.push(Detail {
            key: key.clone(),
            value,
            json,
            mark: touched.then(|| mark(&was, &theirs, shown)),
        });
    }
    // Lines without a name are nobody else's.
    let nameless = typed.details.iter().filter(|detail| detail.key.is_empty());
    details.extend(nameless.cloned());
    details
}

fn sections(seen: &Draft, typed: &Draft, now: &Draft) -> (String, Option<Mark>) {
    let theirs = parsed(&now.sections);
    let own = |text: String| {
        let mark = mark(&parsed(&seen.sections), &theirs, || now.sections.clone());
        (text, Some(mark))
    };
    let mine = match typed.sections.as_str() {
        "" => Value::Object(Map::new()),
        text => match serde_json::from_str::<Value>(text) {
            Ok(mine @ Value::Object(_)) => mine,
            // What is wrong with it is told when it is saved.
            _ => return own(typed.sections.clone()),
        },
    };
    let Some(patch) = json::difference(&parsed(&seen.sections), &mine) else {
        return (now.sections.clone(), None);
    };
    let mut merged = theirs.clone();
    json::merge_patch(&mut merged, patch);
    if merged == theirs {
        return (now.sections.clone(), None);
    }
    own(merged.as_object().map(shown).unwrap_or_default())
}

/// What is there now of that which was otherwise: the property, and its value.
pub(super) fn differing(typed: &Draft, now: &Draft) -> Vec<(String, String)> {
    let mut differing = Vec::new();
    let fields = |draft: &Draft| {
        let fields = draft
            .texts
            .iter()
            .chain(&draft.codes)
            .chain(&draft.references);
        let mut fields: Vec<(String, String)> = fields
            .map(|field| (field.label().to_owned(), field.value.clone()))
            .collect();
        fields.push(("Flags".to_owned(), sorted(&draft.flags)));
        fields
    };
    for ((name, typed), (_, now)) in fields(typed).into_iter().zip(fields(now)) {
        if typed != now {
            differing.push((name, now));
        }
    }
    let details = |draft: &Draft| -> Vec<(String, String)> {
        let details = draft.details.iter();
        details
            .map(|detail| (detail.key.clone(), detail.value.clone()))
            .collect()
    };
    let (typed_details, now_details) = (details(typed), details(now));
    for (key, value) in &now_details {
        if !typed_details.contains(&(key.clone(), value.clone())) {
            differing.push((format!("Details › {key}"), value.clone()));
        }
    }
    for (key, _) in &typed_details {
        if !now_details.iter().any(|(known, _)| known == key) {
            differing.push((format!("Details › {key}"), String::new()));
        }
    }
    let sections = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if sections(&typed.sections) != sections(&now.sections) {
        differing.push(("Other sections".to_owned(), now.sections.clone()));
    }
    differing
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft(record: &Value) -> Draft {
        Draft::of(record.as_object().unwrap())
    }

    fn value<'a>(draft: &'a Draft, name: &str) -> &'a Text {
        draft.texts.iter().find(|text| text.name == name).unwrap()
    }

    #[test]
    fn a_form_remembers_how_it_was() {
        let of = draft(
            &json!({"firstName": "Ada", "barcode": "A", "rawFlags": "pz", "parent": {"id": 7},
            "data": {"Data": {"meal": "vegan", "count": 2}, "Travel": {"by": ["train"]}}}),
        );
        let recalled = recalled(&remembered(&of), &Draft::default()).unwrap();
        assert_eq!(differing(&of, &recalled), []);
        assert_eq!(remembered(&of), remembered(&recalled));
        assert!(super::recalled("{", &of).is_none());
    }

    #[test]
    fn sections_that_are_too_long_are_known_by_their_digest() {
        let long = json!({"data": {"S": {"text": "x".repeat(SECTIONS_MAX_BYTES)}}});
        let of = draft(&long);
        let text = remembered(&of);
        assert!(text.len() < 2_000);
        let untouched = recalled(&text, &of).unwrap();
        assert_eq!(differing(&of, &untouched), []);
        let now = draft(&json!({"data": {"S": {"text": "y"}}}));
        assert_eq!(merged(&untouched, &of, &now).sections, now.sections);
        let mut typed = of.clone();
        typed.sections = r#"{"T": {"a": 1}}"#.to_owned();
        let seen = recalled(&text, &typed).unwrap();
        let merged = merged(&seen, &typed, &now);
        assert_eq!(
            parsed(&merged.sections),
            json!({"S": {"text": "y"}, "T": {"a": 1}})
        );
    }

    #[test]
    fn only_what_was_touched_stays_and_is_marked() {
        let seen = draft(
            &json!({"firstName": "Ada", "lastName": "L", "company": "Engines", "rawFlags": "ap",
            "data": {"Data": {"meal": "vegan", "size": "M", "hotel": "Berg"}, "S": {"a": 1, "b": 1}, "T": {"x": 1}}}),
        );
        let now = draft(
            &json!({"firstName": "Ada", "lastName": "King", "company": "Nordwind", "rawFlags": "apv",
            "data": {"Data": {"meal": "meat", "size": "L", "extra": "yes"}, "S": {"a": 2, "b": 1}}}),
        );
        let typed = draft(
            &json!({"firstName": "Augusta", "lastName": "L", "company": "Analytics", "rawFlags": "p",
            "data": {"Data": {"meal": "vegan", "size": "S", "hotel": "Tal"}, "S": {"a": 1, "b": 3}, "T": {"x": 1}}}),
        );
        let merged = merged(&seen, &typed, &now);
        let theirs = |now: Option<&str>| {
            Some(Mark {
                now: now.map(ToOwned::to_owned),
            })
        };
        for (name, shown, mark) in [
            ("firstName", "Augusta", theirs(None)),
            ("lastName", "King", None),
            ("company", "Analytics", theirs(Some("Nordwind"))),
        ] {
            let text = value(&merged, name);
            assert_eq!((text.value.as_str(), &text.mark), (shown, &mark), "{name}");
        }
        assert_eq!(merged.flags, "pv");
        assert!(merged.flags_mark.is_some());
        let details: Vec<_> = merged
            .details
            .iter()
            .map(|one| (one.key.as_str(), one.value.as_str(), one.mark.is_some()))
            .collect();
        assert_eq!(
            details,
            [
                ("meal", "meat", false),
                ("size", "S", true),
                ("extra", "yes", false),
                ("hotel", "Tal", true)
            ]
        );
        assert_eq!(parsed(&merged.sections), json!({"S": {"a": 2, "b": 3}}));
        assert!(merged.sections_mark.is_some());
    }

    #[test]
    fn a_form_that_nobody_touched_shows_what_is_there() {
        let seen =
            draft(&json!({"firstName": "Ada", "data": {"Data": {"meal": "vegan"}, "S": {"a": 1}}}));
        let now =
            draft(&json!({"lastName": "L", "rawFlags": "p", "data": {"Data": {"size": "M"}}}));
        let merged = merged(&seen, &seen, &now);
        assert_eq!(differing(&merged, &now), []);
        assert_eq!(remembered(&merged), remembered(&now));
    }
}
