//! The default rules of entry, in a form that says what they mean.

use super::{general::Page, mark, told_of};
use crate::{
    admin::{Fields, RequestContext, Route, answer, route},
    core::settings,
    types::error::{Error, Result},
};
use poem::Response;
use serde_json::{Map, Value};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::post(
        "/console/settings/access",
        route::ADMINISTRATOR,
        save,
    )]
}

/// The numbers among the rules: key, and what the form calls it.
const NUMBERS: [(&str, &str); 4] = [
    ("maxCheckIns", "Check-ins per person"),
    ("capacity", "People inside at a time"),
    ("opensBefore", "Opens before the start"),
    ("closesAfter", "Closes after the end"),
];

/// The rules as the form shows them.
#[derive(Default)]
pub(super) struct AccessForm {
    pub(super) seen: String,
    pub(super) rule_set: String,
    pub(super) entry: String,
    pub(super) max_check_ins: String,
    pub(super) capacity: String,
    pub(super) opens_before: String,
    pub(super) closes_after: String,
}

impl AccessForm {
    pub(super) fn of(stored: Option<&Value>) -> Self {
        let text = |name: &str| match stored.and_then(|rules| rules.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        Self {
            seen: mark(&stored),
            rule_set: text("ruleSet"),
            entry: text("entry"),
            max_check_ins: text("maxCheckIns"),
            capacity: text("capacity"),
            opens_before: text("opensBefore"),
            closes_after: text("closesAfter"),
        }
    }

    fn typed(form: &Fields) -> Self {
        let text = |name: &str| form.text(name).to_owned();
        Self {
            seen: text("seen"),
            rule_set: text("ruleSet"),
            entry: text("entry"),
            max_check_ins: text("maxCheckIns"),
            capacity: text("capacity"),
            opens_before: text("opensBefore"),
            closes_after: text("closesAfter"),
        }
    }
}

/// The rules of a form: what is left empty is no rule.
fn rules(form: &Fields) -> Result<Value> {
    let mut rules = Map::new();
    for name in ["ruleSet", "entry"] {
        if let Some(chosen) = form.filled(name) {
            rules.insert(name.into(), chosen.into());
        }
    }
    for (name, called) in NUMBERS {
        let Some(text) = form.filled(name) else {
            continue;
        };
        let number: u32 = crate::types::text::whole(text)
            .map_err(|fault| Error::invalid(format!("{called}: {fault}")))?;
        rules.insert(name.into(), number.into());
    }
    Ok(if rules.is_empty() {
        Value::Null
    } else {
        Value::Object(rules)
    })
}

async fn save(request: RequestContext) -> Result<Response> {
    let saved = match rules(&request.form) {
        Ok(rules) => store(&request, rules).await,
        Err(cause) => Err(cause),
    };
    let mut page = Page::new(&request)?;
    page.failed = "access";
    page.failure = match saved {
        Ok(true) => {
            request.flash("The default rules are in force at every gate that has none of its own.");
            return Ok(answer::go("/console/settings"));
        }
        Ok(false) => {
            "Somebody else changed the default rules meanwhile. Nothing of yours was saved; \
                      these are in force now."
                .into()
        }
        Err(cause) => {
            page.access = AccessForm::typed(&request.form);
            told_of(cause)?
        }
    };
    answer::form_again(&page)
}

/// Whether they were stored: not where they are others by now.
async fn store(request: &RequestContext, rules: Value) -> Result<bool> {
    let ctx = request.context();
    let seen = request.form.text("seen").to_owned();
    request
        .console
        .store
        .write(move |tx| {
            if mark(&settings::stored(tx)?.get("access")) != seen {
                return Ok(false);
            }
            let changes = [("access".to_owned(), rules)].into_iter().collect();
            settings::save(tx, &ctx, &changes)?;
            Ok(true)
        })
        .await
}
