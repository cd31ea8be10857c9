//! `gateways`: an object, one key a channel; `null` in a gateway's place takes it away. A `secret` is
//! set where the document has one; without one that in place is kept, and none is ever exported.

use super::{Part, Plan, planned, read};
use crate::{
    core::outgoing::Reach,
    db::Store,
    domain::messages::{
        Channel,
        gateways::{self, Definition, Secret},
    },
    types::error::{Error, Result},
};
use serde_json::{Map, Value};

pub(super) const PART: Part = Part {
    key: "gateways",
    help: "Gateways: {\"email\": {\"kind\": \"smtp\", \"host\", \"port\", \"security\", \"user\", \"from\"}, \"sms\": {\"kind\": \"http\", \"url\", \"headers\", \"body\", ...}, \"push\": ...}; a \"secret\" is set where there is one, kept where there is none, and never exported.",
    export: gateways::document,
    plan,
};

fn plan(_: &Store, said: Option<Value>, prune: bool) -> Result<Plan> {
    let said: Map<String, Value> = read(PART.key, said)?;
    let mut named = Vec::new();
    for (name, entry) in said {
        let path = format!("gateways.{name}");
        let channel = Channel::named(&name)
            .map_err(|_| Error::field(&path, "there are email, sms and push"))?;
        named.push((channel, entry_of(&path, channel, entry)?));
    }
    let count = named.len();
    if prune {
        for channel in Channel::ALL {
            if !named.iter().any(|(known, _)| known == channel) {
                named.push((*channel, None));
            }
        }
    }
    planned(count, move |tx, ctx| {
        for (channel, entry) in &named {
            let (definition, secret) = match entry {
                Some((definition, secret)) => (Some(definition), secret),
                None => (None, &Secret::Keep),
            };
            let known = gateways::find(tx, *channel)?;
            let same = known.as_ref().map(|known| &known.definition) == definition;
            if !same || *secret != Secret::Keep {
                gateways::save(tx, ctx, *channel, definition, secret)?;
            }
        }
        Ok(())
    })
}

fn entry_of(path: &str, channel: Channel, said: Value) -> Result<Option<(Definition, Secret)>> {
    if said.is_null() {
        return Ok(None);
    }
    let (definition, secret) = gateways::read(path, said)?;
    // Where calls may go from the machine that it is applied on is judged there, when they are made.
    definition
        .check(channel, Reach::Local)
        .map_err(|cause| cause.below(path))?;
    Ok(Some((definition, secret)))
}
