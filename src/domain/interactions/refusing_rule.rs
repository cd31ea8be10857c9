//! The rule behind a refusal, and the place that sets it, for whoever has to solve it.

use super::judge::{CachedDevice, DeviceCache};
use crate::{
    core::{
        Context,
        rules::{AccessRules, Entry, RuleSet, folded},
    },
    db::Tx,
    domain::{delegates, devices},
    types::{
        DelegateId, DeviceId,
        error::{Refusal, Result},
    },
};

/// A rule that refused somebody.
#[derive(Debug, Clone)]
pub struct RefusingRule {
    pub rule: &'static str,
    /// The place that sets it; none where it holds for the whole instance.
    pub set_at: Option<(DeviceId, String)>,
}

const TYPES: &str = "Types of attendees";
const TIMES: &str = "Times of types";

impl RefusingRule {
    /// Returns whether it says who may enter by their type.
    pub fn is_of_types(&self) -> bool {
        [TYPES, TIMES].contains(&self.rule)
    }
}

/// The rule by which somebody was refused at a place.
pub fn refusing_rule(
    tx: &Tx<'_>,
    ctx: &Context,
    place: DeviceId,
    delegate: Option<DelegateId>,
    refusal: Refusal,
) -> Result<RefusingRule> {
    let device_cache = DeviceCache::default();
    let attendee_type = match (refusal, delegate) {
        (Refusal::WrongType, Some(delegate)) => delegates::type_of(tx, delegate)?,
        _ => None,
    };
    let attendee_type = attendee_type.as_deref().map(folded);
    // A door's own list of types may have the one that the list of its place has not.
    let lets_in = |rules: &AccessRules| {
        let types = rules.types.as_ref().zip(attendee_type.as_ref());
        types.is_some_and(|(types, name)| types.contains(name))
    };
    let sets = |known: &CachedDevice, device: DeviceId| -> Result<Option<&'static str>> {
        if refusal == Refusal::NotAvailable && !known.place.available {
            return Ok(Some("Not available"));
        }
        let Some(rules) = &known.rules else {
            return Ok(Some("Unreadable rules"));
        };
        if refusal == Refusal::Full {
            let is_full = match rules.capacity {
                Some(capacity) => tx.people(device)? >= i64::from(capacity),
                None => false,
            };
            return Ok(is_full.then_some("Capacity"));
        }
        Ok(name(rules, refusal).filter(|_| !lets_in(rules)))
    };
    for device in device_cache.path(tx, place)?.iter() {
        if let Some(rule) = sets(&*device_cache.get(tx, *device)?, *device)? {
            let named = (*device, devices::called(tx, *device)?);
            return Ok(RefusingRule {
                rule,
                set_at: Some(named),
            });
        }
    }
    Ok(RefusingRule {
        rule: name(&ctx.settings.access, refusal).unwrap_or("Entry rules"),
        set_at: None,
    })
}

/// The name of the rule among these that may refuse so.
fn name(rules: &AccessRules, refusal: Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::NotJoined => {
            (rules.rule_set == Some(RuleSet::Simple)).then_some("Registered attendees only")
        }
        Refusal::TooMany if rules.max_check_ins.is_some() => match rules.entry {
            Some(Entry::Single) => Some("One entry per ticket, and a limit of check-ins"),
            Some(Entry::Daily) => Some("Once a day, and a limit of check-ins"),
            _ => Some("Limit of check-ins"),
        },
        Refusal::TooMany | Refusal::NotCheckedIn => match rules.entry {
            Some(Entry::Single) => Some("One entry per ticket"),
            Some(Entry::Daily) => Some("Once a day"),
            _ => None,
        },
        Refusal::WrongType => rules.types.as_ref().map(|_| TYPES),
        Refusal::OutsideWindow if rules.type_times.is_some() => Some(TIMES),
        Refusal::OutsideWindow => {
            (rules.opens_before.or(rules.closes_after).is_some()).then_some("Opening times")
        }
        Refusal::Full => rules.capacity.map(|_| "Capacity"),
        Refusal::NotAvailable => None,
    }
}
