//! Pairing codes: each is made at a place in the console and lets one app in as a gate of that place, whether apps
//! may ask or not. In memory, by a clock that nobody can set: a restart ends them.

use super::window::OPEN;
use crate::{
    core::Context,
    types::{DeviceId, barcode::random_symbols, error::Result, text::fold},
};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Codes that are good at a time; the oldest goes first.
const MOST: usize = 200;
/// Symbols of a code that are random: 40 bits, which nobody guesses in ten minutes.
const RANDOM: usize = 8;
/// Characters of the place's name that a code begins with.
const NAME_CHARS: usize = 10;

/// A pairing code, with who made it, and for which place.
#[derive(Clone)]
pub struct Pairing {
    pub code: String,
    pub place: DeviceId,
    pub ctx: Context,
    until: Instant,
    /// The gate that came with it.
    pub gate: Option<DeviceId>,
}

impl Pairing {
    fn is_good(&self, now: Instant) -> bool {
        self.until > now
    }
}

/// The last codes that were made.
#[derive(Default)]
pub struct Pairings(Mutex<Vec<Pairing>>);

impl Pairings {
    /// Makes a code for a place with this name, or keeps the one that its maker has there good for ten minutes more.
    pub fn offer(
        &self,
        place: DeviceId,
        name: &str,
        ctx: Context,
        now: Instant,
    ) -> Result<Pairing> {
        let mut all = self.all();
        let is_own = |one: &&mut Pairing| {
            one.is_good(now)
                && one.place == place
                && one.gate.is_none()
                && one.ctx.actor == ctx.actor
        };
        if let Some(own) = all.iter_mut().find(is_own) {
            own.until = now + OPEN;
            return Ok(own.clone());
        }
        let pairing = Pairing {
            code: code(name)?,
            place,
            ctx,
            until: now + OPEN,
            gate: None,
        };
        all.push(pairing.clone());
        if all.len() > MOST {
            all.retain(|one| one.is_good(now));
        }
        let surplus = all.len().saturating_sub(MOST);
        all.drain(..surplus);
        Ok(pairing)
    }

    /// The newest code that somebody made for a place, used or not, while it is good.
    pub fn of(&self, place: DeviceId, actor: &str, now: Instant) -> Option<Pairing> {
        let all = self.all();
        let own = all
            .iter()
            .rfind(|one| one.is_good(now) && one.place == place && one.ctx.actor == actor);
        own.cloned()
    }

    /// Finds what a code pairs, unless it was used.
    pub fn find(&self, code: &str, now: Instant) -> Option<Pairing> {
        let made = self.made(code)?;
        (made.gate.is_none() && made.is_good(now)).then_some(made)
    }

    /// Finds a code that was made, in whatever case it is written, used or over though it be.
    pub(super) fn made(&self, code: &str) -> Option<Pairing> {
        let all = self.all();
        let made = all.iter().find(|one| one.code.eq_ignore_ascii_case(code));
        made.cloned()
    }

    /// Notes the gate that came with a code, which is good for no other from then on.
    pub(super) fn used(&self, code: &str, gate: DeviceId) {
        let mut all = self.all();
        if let Some(own) = all.iter_mut().find(|one| one.code == code) {
            own.gate = Some(gate);
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Pairing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A code such as `NORTH-DOOR-7K2QF9XD`: the gate is called so on its own screen.
fn code(name: &str) -> Result<String> {
    let mut begins = String::new();
    for letter in fold(name).chars().take(4 * NAME_CHARS) {
        if letter.is_ascii_alphanumeric() {
            begins.push(letter.to_ascii_uppercase());
        } else if !begins.is_empty() && !begins.ends_with('-') {
            begins.push('-');
        }
    }
    begins.truncate(NAME_CHARS);
    let begins = match begins.trim_matches('-') {
        "" => "GATE",
        begins => begins,
    };
    Ok(format!("{begins}-{}", random_symbols::<RANDOM>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{sync::Arc, time::Duration};

    fn context(actor: &str) -> Context {
        Context {
            actor: actor.to_owned(),
            ..Context::of_command("test", Arc::default())
        }
    }

    #[test]
    fn a_code_begins_with_the_name_and_fits_the_field_of_the_app() {
        for (name, begins) in [
            ("North door", "NORTH-DOOR-"),
            ("  Ünder the Great Hall", "NDER-THE-G-"),
            ("北門", "GATE-"),
            ("Stage & Bar", "STAGE-BAR-"),
        ] {
            let code = code(name).unwrap();
            assert!(code.starts_with(begins), "{code}");
            assert!((9..=20).contains(&code.len()), "{code}");
        }
    }

    #[test]
    fn a_code_is_good_for_one_gate_and_ten_minutes() {
        let (pairings, start) = (Pairings::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let offer = |actor: &str, seconds| {
            let made = pairings.offer(DeviceId(7), "Hall", context(actor), after(seconds));
            made.unwrap().code
        };
        let code = offer("user:1", 0);
        assert_eq!(offer("user:1", 300), code);
        assert_ne!(offer("user:2", 300), code);
        let found = pairings.find(&code.to_lowercase(), after(899)).unwrap();
        assert_eq!((found.place, &*found.ctx.actor), (DeviceId(7), "user:1"));
        pairings.used(&code, DeviceId(8));
        assert!(pairings.find(&code, after(400)).is_none());
        let told = pairings.of(DeviceId(7), "user:1", after(400)).unwrap();
        assert_eq!(told.gate, Some(DeviceId(8)));
        let next = offer("user:1", 400);
        assert_ne!(next, code);
        assert!(pairings.find(&next, after(1000)).is_none());
        for spent in [&code, &next] {
            assert_eq!(pairings.made(&spent.to_lowercase()).unwrap().code, *spent);
        }
    }
}
