use super::draft::{Draft, sorted};
use serde_json::Value;

/// What is there now of that which was typed differently.
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
