//! What the gates sent and what they were told: the book that a file is held against.

use super::wire::{Answer, request};
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// One interaction as a gate sends it.
#[derive(Debug, Clone)]
pub struct Item {
    /// Stands in its data, and is its nonce where it has one: nothing else has it.
    pub mark: String,
    pub kind: &'static str,
    pub delegate: i64,
    pub device: i64,
    /// Unix seconds; the server's time without.
    pub recorded_at_s: Option<i64>,
}

/// How interactions are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Alone, with a nonce.
    Single,
    /// Many, each with a nonce.
    Batch,
    /// Many without nonces, under one `Idempotency-Key`.
    Keyed,
}

/// A request, and the interactions as they were answered, once they were acknowledged.
#[derive(Debug)]
pub struct Entry {
    pub shape: Shape,
    pub items: Vec<Item>,
    pub answers: Option<Vec<Value>>,
}

impl Item {
    fn body(&self, nonce: bool) -> Value {
        let mut body = json!({
            "delegate": self.delegate, "device": self.device, "data": self.data(),
        });
        if let Some(at) = self.recorded_at_s {
            body["recordedAt"] = json!(at);
        }
        if nonce {
            body["nonce"] = json!(self.mark);
        }
        body
    }

    fn data(&self) -> Value {
        json!({"mark": self.mark, "gate": {"läuft": true, "battery": 0.75}, "list": [1, null, "ß"]})
    }
}

impl Entry {
    pub fn new(shape: Shape, items: Vec<Item>) -> Self {
        Self {
            shape,
            items,
            answers: None,
        }
    }

    /// The request; the same bytes every time.
    pub fn request(&self, token: &str) -> Vec<u8> {
        let first = &self.items[0];
        if self.shape == Shape::Single {
            let body = first.body(true).to_string();
            return request(
                "POST",
                &format!("/interaction/new/{}", first.kind),
                "",
                token,
                &body,
            );
        }
        let items: Map<String, Value> = self
            .items
            .iter()
            .map(|item| {
                let mut body = item.body(self.shape == Shape::Batch);
                body["interactionType"] = json!(item.kind);
                (item.mark.clone(), body)
            })
            .collect();
        let key = match self.shape {
            Shape::Keyed => format!("Idempotency-Key: {}\r\n", first.mark),
            _ => String::new(),
        };
        let body = json!({"interactions": items}).to_string();
        request("POST", "/interaction/batch", &key, token, &body)
    }

    /// Takes an answer down. What it must be: a first answer creates; a resend of what was
    /// acknowledged gives the same interactions again; a resend of what was not does either.
    ///
    /// # Errors
    /// How the answer differs from that.
    pub fn take(&mut self, answer: &Answer, resent: bool) -> Result<(), String> {
        let outcomes = self.outcomes(answer);
        let mut seen = Vec::with_capacity(outcomes.len());
        for (place, (status, replayed, data)) in outcomes.into_iter().enumerate() {
            let known = self.answers.as_ref().map(|answers| &answers[place]);
            let created = status == 201 && !replayed;
            let again = status == 200 && replayed;
            let fine = match (resent, known) {
                (false, _) => created,
                // The stored answer is given again word for word.
                (true, Some(known)) if self.shape == Shape::Keyed => created && *known == data,
                (true, Some(known)) => again && *known == data,
                (true, None) => created || (again && self.shape != Shape::Keyed),
            };
            if !fine {
                return Err(format!(
                    "{}: answered {status} {data} where {known:?} was known, {resent}",
                    self.items.get(place).map_or("?", |item| &item.mark),
                ));
            }
            seen.push(data);
        }
        if seen.len() != self.items.len() {
            return Err(format!("{}: {answer:?}", self.items[0].mark));
        }
        self.answers = Some(seen);
        Ok(())
    }

    /// How many of its items are in a file.
    pub fn stored(&self, file: &Connection) -> usize {
        let rows = rows(file);
        self.items
            .iter()
            .filter(|item| rows.contains_key(&item.mark))
            .count()
    }

    fn outcomes(&self, answer: &Answer) -> Vec<(u64, bool, Value)> {
        let outcome = |status: u64, answer: &Value| {
            let replayed = answer["meta"]["replayed"] == true;
            (status, replayed, answer["data"].clone())
        };
        if self.shape == Shape::Single {
            return vec![outcome(answer.status.into(), &answer.body)];
        }
        let items = answer.body["data"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        items
            .iter()
            .map(|item| outcome(item["status"].as_u64().unwrap_or(0), item))
            .collect()
    }
}

/// An interaction as it stands in the file.
struct Row {
    id: i64,
    kind: String,
    delegate: Option<i64>,
    device: Option<i64>,
    recorded_at: i64,
    created_at: i64,
    data: String,
}

/// Holds a file against the book: what was acknowledged is there exactly once and as it was sent,
/// what was not is there once or not at all, and nothing is there that nobody sent.
pub fn check(entries: &[Entry], file: &Connection) -> Vec<String> {
    let mut rows = rows(file);
    let nonces = nonces(file);
    let mut troubles = Vec::new();
    for entry in entries {
        for (place, item) in entry.items.iter().enumerate() {
            let found = rows.remove(&item.mark).unwrap_or_default();
            let answer = entry.answers.as_ref().map(|answers| &answers[place]);
            match (&found[..], answer) {
                ([], None) => {}
                ([], Some(_)) => troubles.push(format!("lost: {}", item.mark)),
                ([row], answer) => troubles.extend(differences(item, row, answer)),
                (several, _) => troubles.push(format!("{} times: {}", several.len(), item.mark)),
            }
            let nonce = nonces.get(&item.mark).copied();
            let expected = found
                .first()
                .map(|row| row.id)
                .filter(|_| entry.shape != Shape::Keyed);
            if nonce != expected {
                troubles.push(format!(
                    "nonce {} stands for {nonce:?}, not {expected:?}",
                    item.mark
                ));
            }
        }
    }
    troubles.extend(rows.keys().map(|mark| format!("nobody sent {mark}")));
    troubles
}

fn differences(item: &Item, row: &Row, answer: Option<&Value>) -> Option<String> {
    let recorded_at = item.recorded_at_s.map_or(row.created_at, |at| at * 1000);
    let as_sent = row.kind == item.kind
        && row.delegate == Some(item.delegate)
        && row.device == Some(item.device)
        && row.recorded_at == recorded_at
        && serde_json::from_str::<Value>(&row.data).is_ok_and(|data| data == item.data());
    let as_answered = answer.is_none_or(|answer| {
        answer["id"] == row.id
            && answer["interactionType"] == item.kind
            && answer["firstDelegate"]["id"] == item.delegate
            && answer["firstDevice"]["id"] == item.device
            && answer["data"] == item.data()
    });
    (!as_sent || !as_answered).then(|| format!("not as sent or answered: {}", item.mark))
}

fn rows(file: &Connection) -> HashMap<String, Vec<Row>> {
    let mut rows: HashMap<String, Vec<Row>> = HashMap::new();
    let mut statement = file
        .prepare(
            "SELECT coalesce(json_extract(data, '$.mark'), 'an interaction without a mark'), id,
                    interaction_type, first_delegate_id, first_device_id, recorded_at, created_at,
                    coalesce(data, '')
             FROM interactions",
        )
        .expect("a statement");
    let found = statement.query_map([], |row| {
        let read = Row {
            id: row.get(1)?,
            kind: row.get(2)?,
            delegate: row.get(3)?,
            device: row.get(4)?,
            recorded_at: row.get(5)?,
            created_at: row.get(6)?,
            data: row.get(7)?,
        };
        Ok((row.get(0)?, read))
    });
    for row in found.expect("rows") {
        let (mark, row) = row.expect("a row");
        rows.entry(mark).or_default().push(row);
    }
    rows
}

fn nonces(file: &Connection) -> HashMap<String, i64> {
    file.prepare("SELECT nonce, interaction_id FROM nonces")
        .expect("a statement")
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("rows")
        .map(|row| row.expect("a row"))
        .collect()
}
