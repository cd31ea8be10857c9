//! Values that several interactions of a batch share: `{"$shared": "name"}` anywhere in an item's
//! `data` stands for `sharedValues.name`. A value is stored once, and shown in full when read
//! (contract §6).

use crate::{
    db::Tx,
    types::{
        error::{Error, Kind, Result},
        json::{self, Members},
    },
};
use rusqlite::Connection;
use serde_json::{Map, Value, value::RawValue};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The key that marks a reference.
const MARK: &str = "$shared";

/// The shared values of a batch, by name.
#[derive(Debug, Default)]
pub struct SharedValues(HashMap<String, SharedValue>);

#[derive(Debug)]
struct SharedValue {
    text: String,
    digest: [u8; 32],
    /// Its part of a fingerprint, so that an interaction that shares it and one that carries it
    /// compare as equal.
    part: Vec<u8>,
    /// The number of values that it holds, itself included.
    nodes: usize,
    /// Set where it is an object with a form, as all of `data` may be.
    has_form: bool,
}

/// The size of a JSON value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Objects, arrays, texts, numbers and so on.
    pub nodes: usize,
    /// About how many bytes it has as text.
    pub bytes: usize,
}

/// The places in `data` (JSON Pointer), each with the shared value that belongs there.
pub type Places = Vec<(String, String)>;

impl SharedValues {
    /// The values as a batch sends them.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for one that no body could hold, naming it.
    pub fn read(values: Members) -> Result<Self> {
        let read = |(name, text): (String, Box<RawValue>)| {
            let value = SharedValue::read(text.get()).map_err(|cause| {
                let name = crate::types::text::shortened(&name);
                Error::field(format!("sharedValues.{name}"), cause)
            })?;
            Ok((name, value))
        };
        values
            .0
            .into_iter()
            .map(read)
            .collect::<Result<_>>()
            .map(Self)
    }

    /// The name that a value refers to, if it is a reference to one of these.
    fn referred(value: &Value) -> Option<&str> {
        value.as_object().and_then(Self::named)
    }

    /// The name that an object refers to, which is nothing but a reference.
    fn named(object: &Map<String, Value>) -> Option<&str> {
        object.get(MARK).filter(|_| object.len() == 1)?.as_str()
    }

    /// The fingerprint of a document in which references stand.
    pub fn fingerprint(&self, value: &Value) -> [u8; 16] {
        if self.0.is_empty() {
            return json::fingerprint(value);
        }
        json::fingerprint_with(value, &|value| {
            let shared = self.0.get(Self::referred(value)?)?;
            Some(shared.part.clone())
        })
    }

    /// Checks the references of `data` as it was sent: what an item shares counts where it stands, as it
    /// will be read there.
    ///
    /// # Errors
    /// As [`Self::places`], and [`Kind::TooLarge`].
    pub fn check(&self, data: &Map<String, Value>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let named = self.places(data)?;
        let bytes = named.iter().filter_map(|(_, name)| self.0.get(name));
        if bytes.map(|shared| shared.text.len()).sum::<usize>() > json::RECORD_MAX_BYTES {
            return Err(too_large());
        }
        Ok(())
    }

    /// Returns the size of a value as it is read: a reference counts as what it stands for.
    pub fn size_of(&self, value: &Value) -> Size {
        if let Some(shared) = Self::referred(value).and_then(|name| self.0.get(name)) {
            return Size {
                nodes: shared.nodes,
                bytes: shared.text.len(),
            };
        }
        let mut size = Size { nodes: 1, bytes: 2 };
        let mut add = |key_bytes: usize, part: &Value| {
            let part = self.size_of(part);
            size.nodes += part.nodes;
            size.bytes += key_bytes + part.bytes + 1;
        };
        match value {
            // Quotation marks and a colon.
            Value::Object(object) => object
                .iter()
                .for_each(|(key, part)| add(key.len() + 3, part)),
            Value::Array(items) => items.iter().for_each(|part| add(0, part)),
            scalar => size.bytes = scalar.to_string().len(),
        }
        size
    }

    /// Puts the values of references in their places where a form says what it is and what was asked;
    /// answers stay shared.
    ///
    /// # Errors
    /// [`Kind::TooLarge`] when they come to more than a record may have: shared values may refer to
    /// others, and many answers to one.
    pub fn unfold_form(&self, data: &mut Map<String, Value>) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut bytes_left = json::RECORD_MAX_BYTES;
        let whole = Self::named(data).and_then(|name| self.0.get(name));
        if let Some(whole) = whole.filter(|whole| whole.has_form)
            && let Value::Object(whole) = whole.value(&mut bytes_left)?
        {
            *data = whole;
        }
        if !data.contains_key("form") {
            return Ok(());
        }
        let mut unfold = |value: Option<&mut Value>| -> Result<()> {
            if let Some(value) = value
                && let Some(full) = Self::referred(value).and_then(|name| self.0.get(name))
            {
                *value = full.value(&mut bytes_left)?;
            }
            Ok(())
        };
        unfold(data.get_mut("form"))?;
        unfold(data.get_mut("answers"))?;
        if let Some(Value::Array(answers)) = data.get_mut("answers") {
            for answer in answers {
                unfold(Some(&mut *answer))?;
                for key in ["field", "fieldLabel"] {
                    unfold(answer.get_mut(key))?;
                }
            }
        }
        // What was unfolded may refer to more.
        self.check(data)
    }

    /// Lists the references of `data` and where each stands.
    ///
    /// # Errors
    /// [`Kind::InteractionContent`] for a name that is not among the values.
    pub fn places(&self, data: &Map<String, Value>) -> Result<Places> {
        let mut places = Places::new();
        if let Some(name) = Self::named(data) {
            // All of data is one shared value.
            let shared = self.0.get(name).ok_or_else(|| unknown("", name))?;
            if !shared.text.starts_with('{') {
                return Err(Error::new(
                    Kind::InteractionContent,
                    "must be an object, and so must a shared value that stands for all of it",
                )
                .at("data"));
            }
            places.push((String::new(), name.to_owned()));
            return Ok(places);
        }
        for (key, value) in data {
            self.find(value, &format!("/{}", json::pointer_part(key)), &mut places)?;
        }
        Ok(places)
    }

    fn find(&self, value: &Value, pointer: &str, places: &mut Places) -> Result<()> {
        if let Some(name) = Self::referred(value) {
            if !self.0.contains_key(name) {
                return Err(unknown(pointer, name));
            }
            places.push((pointer.to_owned(), name.to_owned()));
            return Ok(());
        }
        match value {
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                self.find(
                    value,
                    &format!("{pointer}/{}", json::pointer_part(key)),
                    places,
                )
            }),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, value)| {
                self.find(value, &format!("{pointer}/{index}"), places)
            }),
            _ => Ok(()),
        }
    }

    /// `data` with the values in their places.
    pub fn in_full(&self, data: &str, places: &Places) -> Result<String> {
        if places.is_empty() {
            return Ok(data.to_owned());
        }
        let mut data: Value = serde_json::from_str(data).map_err(Error::defect)?;
        for (pointer, name) in places {
            if let (Some(place), Some(shared)) = (data.pointer_mut(pointer), self.0.get(name)) {
                *place = serde_json::from_str(&shared.text).map_err(Error::defect)?;
            }
        }
        Ok(data.to_string())
    }

    /// Stores the values that `places` name, each once in the whole file, and gives the text of
    /// the `shared` column.
    pub fn store(&self, tx: &Tx<'_>, places: &Places) -> Result<Option<String>> {
        if places.is_empty() {
            return Ok(None);
        }
        let mut stored = Vec::with_capacity(places.len());
        for (pointer, name) in places {
            let value = self
                .0
                .get(name)
                .ok_or_else(|| Error::defect("a shared value went missing"))?;
            tx.prepare_cached(
                "INSERT INTO shared_values (digest, value) VALUES (?1, ?2) ON CONFLICT (digest) DO NOTHING",
            )?
            .execute(rusqlite::params![value.digest, value.text])?;
            let id: i64 = tx
                .prepare_cached("SELECT id FROM shared_values WHERE digest = ?1")?
                .query_row([value.digest], |row| row.get(0))?;
            stored.push(serde_json::json!([pointer, id]));
        }
        Ok(Some(Value::Array(stored).to_string()))
    }
}

impl SharedValue {
    fn read(text: &str) -> Result<Self> {
        // The value will be nested in `data`.
        json::check_limits(format!("[{text}]").as_bytes())?;
        if text.len() > json::RECORD_MAX_BYTES {
            // No item can hold it, so nobody looks at more than its length.
            return Ok(Self {
                text: text.to_owned(),
                digest: [0; 32],
                part: Vec::new(),
                nodes: 0,
                has_form: false,
            });
        }
        let value = json::read_whole(text).map_err(|cause| Error::invalid(json::fault(&cause)))?;
        let text = value.to_string();
        Ok(Self {
            digest: Sha256::digest(text.as_bytes()).into(),
            part: json::digest_part(&value),
            nodes: SharedValues::default().size_of(&value).nodes,
            has_form: value.get("form").is_some(),
            text,
        })
    }

    /// The value, its bytes taken from those that an item may still have.
    fn value(&self, bytes_left: &mut usize) -> Result<Value> {
        *bytes_left = bytes_left
            .checked_sub(self.text.len())
            .ok_or_else(too_large)?;
        serde_json::from_str(&self.text).map_err(Error::defect)
    }
}

fn too_large() -> Error {
    Error::new(
        Kind::TooLarge,
        format!(
            "the shared values of an item may have at most {} bytes, each counted wherever it stands",
            json::RECORD_MAX_BYTES
        ),
    )
    .at("data")
}

fn unknown(pointer: &str, name: &str) -> Error {
    Error::new(
        Kind::InteractionContent,
        format!(
            "there is no shared value \"{}\"",
            crate::types::text::shortened(name)
        ),
    )
    .at(format!("data{pointer}"))
}

/// `data` with its shared values in their places.
pub fn in_full(connection: &Connection, data: &str, shared: &str) -> Result<String> {
    let mut data: Value = serde_json::from_str(data).map_err(Error::defect)?;
    let places: Vec<(String, i64)> = serde_json::from_str(shared).map_err(Error::defect)?;
    let mut statement =
        connection.prepare_cached("SELECT value FROM shared_values WHERE id = ?1")?;
    for (pointer, id) in places {
        let text: String = statement.query_row([id], |row| row.get(0))?;
        if let Some(place) = data.pointer_mut(&pointer) {
            *place = serde_json::from_str(&text).map_err(Error::defect)?;
        }
    }
    Ok(data.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> SharedValues {
        read(&json!({"photo": "QUJD", "terms": {"v": 2}}))
    }

    fn read(values: &Value) -> SharedValues {
        let items = serde_json::from_str(&values.to_string()).unwrap();
        SharedValues::read(items).unwrap()
    }

    #[test]
    fn references_are_found_wherever_they_stand() {
        let data = json!({
            "a": {"$shared": "photo"},
            "b/c": [{"x": {"$shared": "terms"}}, 1],
            "d": {"$shared": "photo", "more": 1},
            "e": {"$shared": 5},
        });
        let places = values().places(data.as_object().unwrap()).unwrap();
        assert_eq!(
            places,
            vec![
                ("/a".to_owned(), "photo".to_owned()),
                ("/b~1c/0/x".to_owned(), "terms".to_owned()),
            ]
        );
    }

    #[test]
    fn all_of_data_may_be_a_shared_value_that_is_an_object() {
        let places = |data: Value| values().places(data.as_object().unwrap());
        let whole = places(json!({"$shared": "terms"})).unwrap();
        assert_eq!(whole, vec![(String::new(), "terms".to_owned())]);
        for (name, about) in [("photo", "must be an object"), ("nope", "no shared value")] {
            let error = places(json!({"$shared": name})).unwrap_err();
            assert!(error.to_string().contains(about), "{error}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_its_path() {
        let data = json!({"a": [{"$shared": "nope"}]});
        let error = values().places(data.as_object().unwrap()).unwrap_err();
        assert_eq!(error.kind, Kind::InteractionContent);
        assert!(error.to_string().starts_with("data/a/0:"), "{error}");
    }

    #[test]
    fn sharing_a_value_and_carrying_it_compare_as_equal() {
        let long = json!("x".repeat(500));
        let shared = read(&json!({"p": long}));
        assert_eq!(
            shared.fingerprint(&json!({"photo": {"$shared": "p"}})),
            SharedValues::default().fingerprint(&json!({"photo": long})),
        );
    }
}
