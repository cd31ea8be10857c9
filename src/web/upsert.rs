//! Many records in one request, each created or changed by its code or its id (contract §2).

use super::{
    Body, IdempotencyKey,
    batch::{BATCH_MAX_BYTES, Batch, Item, Part, fingerprint, prepared, write_all},
};
use crate::{
    core::{
        Context, Services,
        idempotency::Key,
        records::{Resource, Selection, input::check_visible, write},
    },
    db::Tx,
    types::{
        error::{Error, Result},
        json::{self, Members},
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Duration};

/// The code that tells a record apart from others wherever it goes: one that is found by another code keeps it.
const IDENTITY: &str = "externalId";

/// A record to create, or to change where there is one with its id or one of its codes.
struct Upsert {
    /// The code by which alone it is found; without one it is found by its id or any of its codes.
    by: Option<&'static str>,
    /// The properties that are answered: without those that other records tell, which may be very many.
    shown: Arc<Selection>,
    input: Map<String, Value>,
}

#[derive(Deserialize)]
struct Record(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);

impl Upsert {
    fn read(
        text: &[u8],
        by: Option<&'static str>,
        shown: &Arc<Selection>,
        visible: Option<&[String]>,
    ) -> Result<Self> {
        let Record(input) = json::parse(text)?;
        check_visible(shown.resource, &input, visible)?;
        let item = Self {
            by,
            shown: Arc::clone(shown),
            input,
        };
        for (_, name) in shown.resource.codes() {
            let sent = item.input.get(name);
            if sent.is_some_and(|code| !code.is_string() && !code.is_null()) {
                return Err(Error::field(name, "must be a text in quotes, or null"));
            }
        }
        if let Some(by) = by {
            if item.code(by).is_none() {
                return Err(Error::field(
                    by,
                    "is missing; by= says that it is found by this",
                ));
            }
        } else if item.id().is_none() && item.codes().next().is_none() {
            return Err(Error::invalid(format!(
                "needs a unique code or an id, by which it is found: {}",
                code_names(shown.resource)
            )));
        }
        Ok(item)
    }

    fn id(&self) -> Option<&Value> {
        self.input.get("id").filter(|id| !id.is_null())
    }

    fn code(&self, name: &str) -> Option<&str> {
        self.input.get(name)?.as_str()
    }

    /// Its unique codes, by their names.
    fn codes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let codes = self.shown.resource.codes();
        codes.filter_map(|(_, name)| Some((name, self.code(name)?)))
    }

    /// The record that it means: with its id, or else the only one that has any of its codes.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::CodeTaken`] for codes of two records, or of one that has another [`IDENTITY`].
    fn find(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Option<i64>> {
        let resource = self.shown.resource;
        if let Some(by) = self.by {
            let code = self.code(by).unwrap_or_default();
            return write::holder(tx, resource, by, code);
        }
        if let Some(id) = self.id() {
            let id = id.as_i64();
            return id
                .map(Some)
                .ok_or_else(|| Error::field("id", "must be a whole number"));
        }
        let mut holders = Vec::new();
        for (name, code) in self.codes() {
            if let Some(id) = write::holder(tx, resource, name, code)? {
                holders.push((name, id));
            }
        }
        let identified = holders.iter().find(|(name, _)| *name == IDENTITY);
        let Some((found_by, id)) = identified.or(holders.first()).copied() else {
            return Ok(None);
        };
        if let Some((name, other)) = holders.iter().find(|(_, other)| *other != id) {
            let means = format!("but {found_by} means another one");
            return Err(write::used(ctx, resource, name, *other, &means));
        }
        if let (Some(sent), Some((column, _))) = (
            self.code(IDENTITY),
            resource.codes().find(|(_, name)| *name == IDENTITY),
        ) && let Some(known) = write::stored_text(tx, resource, column, id)?
            && known != sent
        {
            let other = format!(
                "which has another {IDENTITY}; to replace that, send its id or by={found_by}"
            );
            return Err(write::used(ctx, resource, found_by, id, &other));
        }
        Ok(Some(id))
    }
}

/// The names of the unique codes of a kind of record.
fn code_names(resource: &Resource) -> String {
    let names: Vec<_> = resource.codes().map(|(_, name)| name).collect();
    names.join(" ")
}

impl Item for Upsert {
    type Outcome = (u16, String);
    const REPEATABLE: bool = false;
    // The index for searching is written after it, which takes as long again.
    const SLICE_MAX: Duration = Duration::from_millis(10);

    fn write(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Self::Outcome> {
        let (resource, input) = (self.shown.resource, self.input.clone());
        let (status, id) = match self.find(tx, ctx)? {
            Some(id) => {
                write::patch(tx, ctx, resource, id, input)?;
                (200, id)
            }
            None => (201, write::create(tx, ctx, resource, input)?),
        };
        let json = self.shown.one(tx, "id", &id, &ctx.settings.zone)?;
        Ok((status, json.ok_or_else(|| resource.missing(&id))?))
    }

    fn answer((status, json): &Self::Outcome, _: &Context) -> Part {
        (*status, json.clone(), "{}".to_owned())
    }
}

/// The particulars of a request that are the same for all its records.
pub struct Upserts {
    /// The code by which alone they are found, as it was sent.
    pub by: Option<String>,
    /// The properties that the client sees; all without it.
    pub visible: Option<Arc<[String]>>,
    pub key: IdempotencyKey,
}

/// Creates or changes the records of a batch, and returns the array of its answers as JSON text, with the properties that
/// are visible. `items` are the records in a body.
///
/// # Errors
/// As [`Batch::new`] and [`write_all`]; [`crate::types::error::Kind::Invalid`] for a code that there is not.
pub async fn upserted<T: DeserializeOwned + Send + 'static>(
    app: &Services,
    ctx: Context,
    resource: &'static Resource,
    upserts: Upserts,
    body: Body<T, BATCH_MAX_BYTES, true>,
    items: fn(T) -> Members,
) -> Result<String> {
    let Upserts { by, visible, key } = upserts;
    let by = match by {
        None => None,
        Some(name) => {
            let known = resource.codes().find(|(_, known)| *known == name);
            let (_, known) = known.ok_or_else(|| {
                Error::field("by", format!("must be one of {}", code_names(resource)))
            })?;
            Some(known)
        }
    };
    let (ctx, batch, key) = prepared(move || {
        let shown = Arc::new(Selection::seen(resource, visible.as_deref()));
        let batch = Batch::new(
            &format!("{}s", resource.name),
            items(body.parse()?),
            |text| Upsert::read(text, by, &shown, visible.as_deref()),
        )?;
        let mut operation = format!("POST /{}/batch", resource.name);
        if let Some(by) = by {
            operation = format!("{operation}?by={by}");
        }
        let key = Key::of(&ctx, key.read()?, operation, || {
            Ok(fingerprint(body.text()))
        })?;
        Ok((ctx, batch, key))
    })
    .await?;
    write_all(&app.store, ctx, batch, key).await
}
