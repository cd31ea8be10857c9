//! What the head office owns, on its way into the store: the feed of the hub's own file, read in process and taken in as
//! that of a venue, and the configuration. Of several hubs the first one's file is the head office; others only serve.

use super::{
    Hub,
    ingest::{self, Sender, Taken},
    store::{Store, text},
    venues::{OFFICE, Venue},
};
use crate::{
    core::head_office::Push,
    db::{counters, usage::FILE},
    domain::feed::{Action, Page, Reader, RecordType, View},
    identity::App,
    ops::config,
    types::{
        Timestamp,
        error::{Error, Kind, Result},
        secret,
    },
};
use serde_json::value::RawValue;
use std::{convert::Infallible, time::Duration};

/// Items that are taken in at a time.
const ITEMS: usize = 1_000;
const WAIT: Duration = Duration::from_secs(60);
/// The rest after a failure, and between two looks at the configuration.
const REST: Duration = Duration::from_secs(2);
/// Interactions are registrations, by which attendees belong to events.
const TYPES: [RecordType; 4] = [
    RecordType::Device,
    RecordType::Delegate,
    RecordType::BlockedCode,
    RecordType::Interaction,
];

/// Follows the hub's own file; never ends.
pub async fn follow(hub: &Hub) {
    loop {
        match follow_until_failure(hub).await {
            Ok(never) => match never {},
            Err(cause) => tracing::warn!("the head office's own records: {cause}"),
        }
        tokio::time::sleep(REST).await;
    }
}

/// The file's number, where it is the head office.
async fn claim(hub: &Hub) -> Result<Option<(String, Option<String>)>> {
    let file = hub.app.store.look_up(|file| counters::get(file, FILE))?;
    let file = file.unwrap_or_default().to_string();
    let (name, now) = (hub.app.settings().name().to_owned(), Timestamp::now());
    hub.store
        .write(move |sql| {
            sql.lock(OFFICE)?;
            sql.execute(
                "INSERT INTO hub_venues (id, name, file, created_at) VALUES (0, ?1, ?2, ?3) ON CONFLICT DO NOTHING",
                &[text(&name), text(&file), now.0.into()],
            )?;
            let office = Venue::find(sql, OFFICE)?;
            Ok((office.file.as_ref() == Some(&file)).then_some((file, office.cursor)))
        })
        .await
}

async fn follow_until_failure(hub: &Hub) -> Result<Infallible> {
    let Some((file, mut from)) = claim(hub).await? else {
        tracing::info!("another hub's file is the head office; this one only serves venues");
        return std::future::pending().await;
    };
    let mut reader = reader(&hub.app, from.as_deref())?;
    let mut is_behind = true;
    loop {
        // Until all is read, an empty page has its meaning, too: the snapshot may be of nothing.
        let read = if is_behind {
            reader.next().await
        } else {
            reader.wait(WAIT).await
        };
        let page = match read {
            Err(cause) if cause.kind == Kind::CursorGone => {
                (reader, from, is_behind) = (self::reader(&hub.app, None)?, None, true);
                continue;
            }
            page => page?,
        };
        if page.items.iter().any(|item| item.action == Action::Reset) {
            (from, is_behind) = (None, true);
            continue;
        }
        let to = page.cursor.encoded();
        if page.items.is_empty() && from.as_ref() == Some(&to) && !is_behind {
            continue;
        }
        is_behind = page.more;
        from = push(hub, &file, from, to, page).await?;
        hub.look_down().await?;
    }
}

fn reader(app: &App, since: Option<&str>) -> Result<Reader> {
    let zone = app.settings().zone.clone();
    Reader::new(
        app,
        move || Ok(View::whole(&TYPES, zone.clone())),
        since,
        ITEMS,
    )
}

/// Takes a page in; the cursor behind it.
async fn push(
    hub: &Hub,
    file: &str,
    from: Option<String>,
    to: String,
    page: Page,
) -> Result<Option<String>> {
    let mut items = Vec::with_capacity(page.items.len());
    for item in &page.items {
        let mut text = String::new();
        item.write(&mut text);
        items.push(RawValue::from_string(text).map_err(Error::defect)?);
    }
    let push = Push {
        venue: OFFICE,
        file: file.to_owned(),
        epoch: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        clock: Timestamp::now().0,
        from,
        to: Some(to),
        complete: !page.more,
        behind: 0,
        behind_ms: 0,
        items: items.iter().map(AsRef::as_ref).collect(),
        kept: None,
    };
    match ingest::take(&hub.store, Sender::Office, push, Timestamp::now()).await? {
        Taken::Stored(told) => Ok(told.cursor),
        // The store was put back, or another process of this file was faster.
        Taken::Elsewhere(_) => Err(Error::unavailable(
            "the store has another cursor; it goes on from there",
        )),
    }
}

/// Puts the configuration into the store whenever it changed; never ends.
pub async fn follow_configuration(hub: &Hub) {
    let mut newest = hub.app.changes.subscribe();
    loop {
        newest.borrow_and_update();
        if let Err(cause) = offer(&hub.app, &hub.store).await {
            tracing::warn!("the head office's configuration: {cause}");
        }
        tokio::time::sleep(REST).await;
        let _ = tokio::time::timeout(WAIT, newest.changed()).await;
    }
}

async fn offer(app: &App, store: &Store) -> Result<()> {
    let file = app.store.look_up(|file| counters::get(file, FILE))?;
    let file = file.unwrap_or_default().to_string();
    let document = app.store.read(config::export).await?;
    let document = serde_json::to_string(&document).map_err(Error::defect)?;
    let hash = secret::hex(&secret::digest(document.as_bytes()));
    store
        .write(move |sql| {
            let office = sql.query_one("SELECT file FROM hub_venues WHERE id = 0", &[])?;
            let newest = sql.query_one(
                "SELECT hash, id FROM hub_configuration ORDER BY id DESC LIMIT 1",
                &[],
            )?;
            let is_own = office.is_some_and(|row| row.text(0) == file);
            let id = match newest {
                Some(row) if row.text(0) == hash => return Ok(()),
                Some(row) => row.number(1) + 1,
                None => 1,
            };
            if is_own {
                sql.execute("DELETE FROM hub_configuration", &[])?;
                sql.execute(
                    "INSERT INTO hub_configuration (id, hash, document) VALUES (?1, ?2, ?3)",
                    &[id.into(), text(&hash), text(&document)],
                )?;
            }
            Ok(())
        })
        .await
}
