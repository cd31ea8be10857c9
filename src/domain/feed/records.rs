//! Records as the feed shows them: as the API does, without what other records tell (`children`,
//! interactions of a delegate).

use super::{RecordType, read::kind};
use crate::{
    core::{
        changes::What,
        records::{Expansion, Selection},
    },
    domain::{
        delegates, devices,
        interactions::{
            list::{PARTICIPANTS, expansion},
            rows,
        },
        sales,
    },
    identity::Principal,
    types::{
        Zone,
        error::{Error, Result},
    },
};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, fmt::Write, sync::Arc};

/// A view of the feed: what a reader of it is shown.
pub trait FeedView: Send + Sync {
    /// The types of its records, in the order of a snapshot.
    fn types(&self) -> &[RecordType];

    /// Tells readers apart that are shown different things: a copy of one is not continued by another.
    fn fingerprint(&self) -> [u8; 4];

    /// A record as JSON text; none when it is gone, or not for this reader.
    fn record(
        &self,
        connection: &Connection,
        record_type: RecordType,
        id: i64,
    ) -> Result<Option<String>>;

    /// The ids of records after one, ascending.
    fn ids(
        &self,
        connection: &Connection,
        record_type: RecordType,
        after: i64,
        limit: usize,
    ) -> Result<Vec<i64>> {
        let alive = match record_type {
            RecordType::Delegate => delegates::RESOURCE.alive,
            RecordType::Device => devices::LISTED.alive,
            _ => "TRUE",
        };
        let table = record_type.table();
        let sql = format!("SELECT id FROM {table} WHERE id > ?1 AND {alive} ORDER BY id LIMIT ?2");
        let mut statement = connection.prepare_cached(&sql)?;
        let ids = statement.query_map((after, limit), |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// The effect of a change on this reader.
    fn effect_of(&self, _: &Connection, change: &What) -> Result<ChangeEffect> {
        let (record_type, id, kind) = match change {
            What::Recorded(recorded) => {
                (Some(RecordType::Interaction), Some(recorded.id), "created")
            }
            What::Changed(changed) => (
                RecordType::of_record(&changed.record_type),
                changed.record,
                kind(&changed.action),
            ),
        };
        let known = record_type.filter(|known| self.types().contains(known));
        Ok(match known.zip(id) {
            Some((record_type, id)) => ChangeEffect::Record(record_type, id, kind),
            None => ChangeEffect::Nothing,
        })
    }
}

/// The effect of a change on a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeEffect {
    /// A record, and what happened to it.
    Record(RecordType, i64, &'static str),
    /// Perhaps every record: its copy begins anew.
    All,
    Nothing,
}

/// The records that a client is shown.
pub struct View {
    /// The types that it asked for, in the order of a snapshot.
    pub types: Vec<RecordType>,
    delegates: Selection,
    devices: Selection,
    visible: Option<Arc<[String]>>,
    expansion: Expansion,
    zone: Zone,
}

impl View {
    /// Everything of these types, as a venue and its head office show each other.
    pub fn whole(types: &[RecordType], zone: Zone) -> Self {
        Self {
            types: types.to_vec(),
            delegates: Selection::seen(&delegates::RESOURCE, None),
            devices: Selection::seen(&devices::LISTED, None),
            visible: None,
            expansion: Expansion::default(),
            zone,
        }
    }

    /// Returns the view of a caller, of the types that it asks for; without any, of those that its roles read.
    /// `expand` names the records in others that it shows whole.
    pub fn new(
        caller: &Principal,
        types: Option<&str>,
        expand: Option<&str>,
        zone: Zone,
    ) -> Result<Self> {
        if caller.user.is_some() {
            return Err(Error::new(
                crate::types::error::Kind::Forbidden,
                "the change feed needs a client's own token (client_credentials), not a user's",
            ));
        }
        let visible = caller.visible_properties.clone();
        Ok(Self {
            types: chosen(caller, types)?,
            delegates: Selection::seen(&delegates::RESOURCE, visible.as_deref()),
            devices: Selection::seen(&devices::LISTED, None),
            visible,
            expansion: expansion(expand, &expandable(), caller)?,
            zone,
        })
    }
}

impl FeedView for View {
    fn types(&self) -> &[RecordType] {
        &self.types
    }

    fn fingerprint(&self) -> [u8; 4] {
        let types: Vec<_> = self.types.iter().map(|known| known.name()).collect();
        let mut text = format!("{types:?} {:?} {}", self.visible, self.zone.iana_name());
        if !self.expansion.names().is_empty() {
            let _ = write!(text, " {:?}", self.expansion.names());
        }
        fingerprint_of(&text)
    }

    fn record(
        &self,
        connection: &Connection,
        record_type: RecordType,
        id: i64,
    ) -> Result<Option<String>> {
        let mut found = match record_type {
            RecordType::Delegate => self.delegates.one(connection, "id", &id, &self.zone)?,
            RecordType::Device => self.devices.one(connection, "id", &id, &self.zone)?,
            RecordType::Interaction => {
                let found = rows::find(connection, id)?;
                found.map(|interaction| interaction.to_json(&self.zone))
            }
            RecordType::BlockedCode => {
                let code = delegates::blocked::with_id(connection, id)?;
                let shown = code.filter(|code| {
                    let visible = self.visible.as_deref();
                    visible.is_none_or(|names| names.contains(&code.kind))
                });
                shown.map(|code| code.to_json(id, &self.zone).to_string())
            }
            RecordType::Transaction => {
                let visible = self.visible.as_deref();
                let found = sales::stored::find(connection, id, &self.zone, visible)?;
                found.map(|transaction| transaction.to_string())
            }
        };
        if let Some(json) = &mut found {
            self.expansion.expand(connection, &self.zone, json, 0)?;
        }
        Ok(found)
    }
}

/// The properties of records in the feed that hold another record.
pub fn expandable() -> Vec<&'static str> {
    let resources = [&delegates::RESOURCE, &devices::LISTED].into_iter();
    let references = resources.flat_map(|resource| resource.references().map(|field| field.name));
    let all: BTreeSet<_> = PARTICIPANTS.iter().copied().chain(references).collect();
    all.into_iter().collect()
}

/// The beginning of a text's hash.
pub fn fingerprint_of(text: &str) -> [u8; 4] {
    let digest = Sha256::digest(text);
    [digest[0], digest[1], digest[2], digest[3]]
}

fn chosen(caller: &Principal, types: Option<&str>) -> Result<Vec<RecordType>> {
    let Some(types) = types else {
        let all = RecordType::ALL.into_iter();
        return Ok(all.filter(|known| caller.has(known.role())).collect());
    };
    let named: Vec<&str> = types.split(',').map(str::trim).collect();
    for name in &named {
        let Some(known) = RecordType::ALL
            .into_iter()
            .find(|known| known.name() == *name)
        else {
            let names = RecordType::ALL.map(RecordType::name).join(", ");
            return Err(Error::invalid(format!(
                "unknown type \"{}\"; choose of {names}",
                crate::types::text::shortened(name)
            ))
            .at("types"));
        };
        if !caller.has(known.role()) {
            return Err(crate::identity::roles::lacking(&[known.role()]));
        }
    }
    let all = RecordType::ALL.into_iter();
    Ok(all.filter(|known| named.contains(&known.name())).collect())
}
