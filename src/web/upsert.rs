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

/// A record to create, or to change where there is one with its id or one of its codes.
struct Upsert {
    /// The properties that are answered: without those that other records tell, which may be very many.
    shown: Arc<Selection>,
    input: Map<String, Value>,
}

#[derive(Deserialize)]
struct Record(#[serde(deserialize_with = "json::no_property_twice")] Map<String, Value>);

impl Upsert {
    fn read(text: &[u8], shown: &Arc<Selection>, visible: Option<&[String]>) -> Result<Self> {
        let Record(input) = json::parse(text)?;
        check_visible(shown.resource, &input, visible)?;
        let item = Self {
            shown: Arc::clone(shown),
            input,
        };
        if item.id().is_none() && item.codes().next().is_none() {
            let known: Vec<_> = shown.resource.codes().map(|(_, name)| name).collect();
            return Err(Error::invalid(format!(
                "needs a unique code or an id, by which it is found: {}",
                known.join(" ")
            )));
        }
        Ok(item)
    }

    fn id(&self) -> Option<&Value> {
        self.input.get("id").filter(|id| !id.is_null())
    }

    /// Its unique codes, by their names.
    fn codes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let codes = self.shown.resource.codes();
        codes.filter_map(|(_, name)| Some((name, self.input.get(name)?.as_str()?)))
    }

    fn find(&self, tx: &Tx<'_>) -> Result<Option<i64>> {
        if let Some(id) = self.id() {
            let id = id.as_i64();
            return id
                .map(Some)
                .ok_or_else(|| Error::field("id", "must be a whole number"));
        }
        for (name, code) in self.codes() {
            let holder = write::holder(tx, self.shown.resource, name, code)?;
            if holder.is_some() {
                return Ok(holder);
            }
        }
        Ok(None)
    }
}

impl Item for Upsert {
    type Outcome = (u16, String);
    const REPEATABLE: bool = false;
    // The index for searching is written after it, which takes as long again.
    const SLICE_MAX: Duration = Duration::from_millis(10);

    fn write(&self, tx: &Tx<'_>, ctx: &Context) -> Result<Self::Outcome> {
        let (resource, input) = (self.shown.resource, self.input.clone());
        let (status, id) = match self.find(tx)? {
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

/// Creates or changes the records of a batch, and returns the array of its answers as JSON text, with the properties that
/// are `visible`. `items` are the records in a body.
///
/// # Errors
/// As [`Batch::new`] and [`write_all`].
pub async fn upserted<T: DeserializeOwned + Send + 'static>(
    app: &Services,
    ctx: Context,
    resource: &'static Resource,
    visible: Option<Arc<[String]>>,
    key: IdempotencyKey,
    body: Body<T, BATCH_MAX_BYTES, true>,
    items: fn(T) -> Members,
) -> Result<String> {
    let (ctx, batch, key) = prepared(move || {
        let shown = Arc::new(Selection::seen(resource, visible.as_deref()));
        let batch = Batch::new(
            &format!("{}s", resource.name),
            items(body.parse()?),
            |text| Upsert::read(text, &shown, visible.as_deref()),
        )?;
        let operation = format!("POST /{}/batch", resource.name);
        let key = Key::of(&ctx, key.read()?, operation, || {
            Ok(fingerprint(body.text()))
        })?;
        Ok((ctx, batch, key))
    })
    .await?;
    write_all(&app.store, ctx, batch, key).await
}
