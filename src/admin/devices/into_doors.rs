//! Turning places below a place into doors of it, where they look like doors.

use crate::admin::prelude::*;
use crate::{
    core::rules::{AccessRules, Per},
    domain::devices::{
        into_doors::{Candidate, candidates, turn},
        record::Record,
        rule_texts,
    },
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "devices/doors.html")]
struct Page {
    layout: Layout,
    record: Record,
    candidates: Vec<Candidate>,
    /// Questions on the place from now on: how often one may enter, and how many check-ins there are.
    questions: [Question; 2],
    failure: Option<String>,
}

impl Page {
    /// Limits that are removed, in words.
    fn capacities(&self) -> Vec<String> {
        let limited = self.candidates.iter();
        limited
            .filter_map(|one| Some(format!("{}: {}", one.name, one.rules.capacity?)))
            .collect()
    }

    /// Returns whether a rule of one of them is lost that is neither asked for nor a capacity.
    fn loses_others(&self) -> bool {
        let mut others = self
            .candidates
            .iter()
            .flat_map(|one| one.rules.not_of_doors());
        others.any(|name| !["entry", "maxCheckIns", "capacity"].contains(&name))
    }
}

/// A rule that the place gets.
struct Question {
    name: &'static str,
    label: &'static str,
    /// Stored values with their meanings; one, where all agree.
    choices: Vec<(String, String)>,
}

impl Question {
    fn of<'a>(
        name: &'static str,
        label: &'static str,
        rules: impl Iterator<Item = &'a AccessRules>,
        value: fn(&AccessRules) -> (Value, String),
    ) -> Self {
        let choices: BTreeMap<_, _> = rules
            .map(|rules| {
                let (stored, meaning) = value(rules);
                (stored.to_string(), meaning)
            })
            .collect();
        let choices = choices.into_iter().collect();
        Self {
            name,
            label,
            choices,
        }
    }
}

fn entry(rules: &AccessRules) -> (Value, String) {
    let meaning = match rules.entry {
        Some(entry) => rule_texts::entry(Some(entry)).to_owned(),
        None => "As in the settings.".to_owned(),
    };
    (json!({"entry": rules.entry}), meaning)
}

fn most(rules: &AccessRules) -> (Value, String) {
    let meaning = match (rules.max_check_ins, rules.per) {
        (None, _) => "As in the settings.".to_owned(),
        (Some(most), None) => format!("{most}"),
        (Some(most), Some(Per::Day)) => format!("{most} a day"),
    };
    (
        json!({"maxCheckIns": rules.max_check_ins, "per": rules.per}),
        meaning,
    )
}

/// Asks for rules that the place and its doors have: the place counts only where it sets one itself.
fn questions(own: &AccessRules, candidates: &[Candidate]) -> [Question; 2] {
    let all = |is_set: bool| {
        let own = Some(own).filter(|_| is_set);
        candidates.iter().map(|one| &one.rules).chain(own)
    };
    [
        Question::of(
            "entry",
            "How often may somebody enter?",
            all(own.entry.is_some()),
            entry,
        ),
        Question::of(
            "maxCheckIns",
            "Check-ins per person, at most",
            all(own.max_check_ins.is_some()),
            most,
        ),
    ]
}

fn page(request: &RequestContext, failure: Option<String>) -> Result<Page> {
    let id = request.id("id")?;
    let (record, candidates) = request.look_up(|connection| {
        let record = Record::find(connection, id)?;
        let candidates = candidates(connection, &record)?;
        Ok((record, candidates))
    })?;
    let own = record.rules().unwrap_or_default();
    Ok(Page {
        layout: request.layout(&format!("Doors of {}", record.name), Some(Area::Devices)),
        questions: questions(&own, &candidates),
        record,
        candidates,
        failure,
    })
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&page(&request, None)?)
}

pub(super) async fn apply(request: RequestContext) -> Result<Response> {
    let id = request.id("id")?;
    let mut doors = Vec::new();
    for door in request.form.all("door") {
        doors.push(
            door.parse()
                .map_err(|_| Error::field("door", "must be a number"))?,
        );
    }
    let rules = ["entry", "maxCheckIns"].map(|name| request.form.text(name).to_owned());
    let (count, offered) = (doors.len(), page(&request, None)?.questions);
    let done = request
        .write(move |tx, ctx| turn(tx, ctx, id, &doors, chosen(&offered, &rules)?))
        .await;
    match done {
        Ok(()) => request.done(
            format!("{count} doors. Their rules are those of the place now."),
            &format!("/console/devices/{id}"),
        ),
        Err(cause) if is_theirs(&cause) => {
            let failure = answer::sentence(&cause);
            answer::form_again(&page(&request, Some(failure))?)
        }
        Err(cause) => Err(cause),
    }
}

/// The rules that were chosen, among those that are offered.
fn chosen(offered: &[Question; 2], sent: &[String; 2]) -> Result<Map<String, Value>> {
    let mut rules = Map::new();
    for (question, sent) in offered.iter().zip(sent) {
        let known = question.choices.iter().find(|(value, _)| value == sent);
        let Some((value, _)) = known else {
            return Err(Error::field(question.label, "choose one"));
        };
        if let Ok(Value::Object(value)) = serde_json::from_str(value) {
            rules.extend(value);
        }
    }
    Ok(rules)
}
