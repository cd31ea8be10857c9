//! The interaction types that mean something to the server, each declared once, and what follows from an
//! interaction of such a type, in its transaction. Any other well-formed type may be posted; it is recorded
//! and nothing else.

use super::{presence::PresenceChange, rows::Interaction};
use crate::{
    core::{Context, rules::Passage},
    db::Tx,
    domain::delegates::flags,
    types::{DelegateId, error::Result},
};
use rusqlite::Connection;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InteractionType {
    /// As clients send it.
    pub name: &'static str,
    /// As pages explain it.
    pub label: &'static str,
    /// As activity tells it of the first delegate, and the word before the place.
    pub told: (&'static str, &'static str),
    /// As activity calls many of them, for a type that machines repeat.
    pub repeated: Option<&'static str>,
    /// The change to the first delegate's presence at the first device.
    pub presence_effect: Option<PresenceChange>,
    /// The change in place of that where a second delegate takes part.
    pub effect_with_second: Option<PresenceChange>,
    /// The change at a place that counts what readers notice (`data.Presence.counts`).
    pub effect_where_counted: Option<PresenceChange>,
    /// The passage by which the rules judge it; the others are never refused by rules.
    pub judged: Option<Passage>,
    /// The action of the server once it is recorded.
    pub follow_up: Option<FollowUp>,
    /// Set where clients may post it; the others are made by the server.
    pub postable: bool,
    /// Set where a client with the role of a gate alone may post it. Without `judged`, no rule refuses it.
    pub of_gates: bool,
}

/// The action of the server once an interaction is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// Makes two delegates `connected` who each sent the other one.
    Connect,
    /// Raises the flag of those who sent feedback.
    FlagFeedback,
}

impl InteractionType {
    /// A type that is only recorded.
    const fn new(name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            told: (name, "at"),
            repeated: None,
            presence_effect: None,
            effect_with_second: None,
            effect_where_counted: None,
            judged: None,
            follow_up: None,
            postable: true,
            of_gates: false,
        }
    }

    /// A type that changes presence.
    const fn with_effect(name: &'static str, label: &'static str, effect: PresenceChange) -> Self {
        Self {
            presence_effect: Some(effect),
            effect_with_second: Some(effect),
            ..Self::new(name, label)
        }
    }
}

/// Goes in, if the rules allow.
pub const CHECK_IN: InteractionType = InteractionType {
    told: ("checked in", "at"),
    judged: Some(Passage::In),
    of_gates: true,
    ..InteractionType::with_effect("check-in", "Check-in", PresenceChange::Enter)
};
/// Goes in, whatever the rules say.
pub const OVERRIDE: InteractionType = InteractionType {
    told: ("admitted against the rules", "at"),
    of_gates: true,
    ..InteractionType::with_effect(
        "check-in-override",
        "Check-in against the rules",
        PresenceChange::Enter,
    )
};
/// Goes out.
pub const CHECK_OUT: InteractionType = InteractionType {
    told: ("checked out", "at"),
    judged: Some(Passage::Out),
    of_gates: true,
    ..InteractionType::with_effect("check-out", "Check-out", PresenceChange::Exit)
};
/// Is registered for a place.
pub const JOIN: InteractionType = InteractionType {
    told: ("registered", "for"),
    of_gates: true,
    ..InteractionType::with_effect("join", "Registration", PresenceChange::Join)
};
/// Owns a device, and may read it.
pub const OWN: InteractionType = InteractionType {
    told: ("became the owner", "of"),
    ..InteractionType::new("own", "Ownership")
};
/// Gives a contact.
pub const LEAD: InteractionType = InteractionType {
    told: ("gave a contact", "at"),
    ..InteractionType::new("lead", "Lead")
};
/// Asks another for a connection.
pub const CONNECT: InteractionType = InteractionType {
    told: ("asked for a connection", "at"),
    repeated: Some("requests for connections"),
    follow_up: Some(FollowUp::Connect),
    ..InteractionType::new("connect", "Connection request")
};
/// Many of what readers notice.
const SIGHTINGS: &str = "sightings";
/// A tag was read at a place.
pub const SEEN: InteractionType = InteractionType {
    told: ("seen", "at"),
    repeated: Some(SIGHTINGS),
    ..InteractionType::new("seen", "Seen by a reader")
};
/// Came into a place, by what readers noticed.
pub const ENTERED: InteractionType = InteractionType {
    told: ("came in", "at"),
    repeated: Some(SIGHTINGS),
    effect_where_counted: Some(PresenceChange::Enter),
    ..InteractionType::new("entered", "Entered, noticed by a reader")
};
/// Left a place, by what readers noticed.
pub const EXITED: InteractionType = InteractionType {
    told: ("went out", "at"),
    repeated: Some(SIGHTINGS),
    effect_where_counted: Some(PresenceChange::Exit),
    ..InteractionType::new("exited", "Exited, noticed by a reader")
};
/// Two who asked each other.
pub const CONNECTED: InteractionType = InteractionType {
    told: ("connected", "at"),
    postable: false,
    ..InteractionType::new("connected", "Connection, made by the server")
};

/// Got a badge.
pub const PRINT: InteractionType = InteractionType {
    told: ("got a badge", "at"),
    ..InteractionType::new("print", "Printed badge")
};

/// Every type, in the order in which pages offer them.
pub static TYPES: [InteractionType; 18] = [
    CHECK_IN,
    OVERRIDE,
    CHECK_OUT,
    JOIN,
    InteractionType {
        told: ("booked", "at"),
        ..InteractionType::with_effect("booking", "Booking", PresenceChange::Join)
    },
    InteractionType {
        told: ("cancelled the booking", "at"),
        ..InteractionType::with_effect("cancel-booking", "Cancelled booking", PresenceChange::Leave)
    },
    InteractionType {
        told: ("no longer invited", "to"),
        effect_with_second: Some(PresenceChange::LeaveSecond),
        ..InteractionType::with_effect("uninvite", "Withdrawn invitation", PresenceChange::Leave)
    },
    PRINT,
    OWN,
    LEAD,
    InteractionType {
        told: ("sent feedback", "at"),
        follow_up: Some(FollowUp::FlagFeedback),
        ..InteractionType::new("feedback", "Feedback")
    },
    InteractionType {
        told: ("ordered", "at"),
        ..InteractionType::new("order", "Order")
    },
    InteractionType {
        told: ("can collect an order", "at"),
        ..InteractionType::new("order-cleared", "Order ready")
    },
    CONNECT,
    CONNECTED,
    SEEN,
    ENTERED,
    EXITED,
];

/// The type of this name, if it means something to the server.
pub fn find(name: &str) -> Option<&'static InteractionType> {
    TYPES.iter().find(|one| one.name == name)
}

/// Returns whether gates may post a type of this name.
pub fn is_of_gates(name: &str) -> bool {
    find(name).is_some_and(|known| known.of_gates)
}

/// The names of the types that gates may post.
pub fn names_of_gates() -> impl Iterator<Item = &'static str> {
    TYPES.iter().filter(|one| one.of_gates).map(|one| one.name)
}

/// Returns whether clients may post a type of this name.
pub fn is_postable(name: &str) -> bool {
    find(name).is_none_or(|known| known.postable)
}

/// Returns what an interaction does to presence: the value of its column `effect`. `counted`: its place counts what
/// readers notice.
pub fn effect(name: &str, has_second_delegate: bool, counted: bool) -> Option<PresenceChange> {
    let found = find(name)?;
    let effect = if has_second_delegate {
        found.effect_with_second
    } else {
        found.presence_effect
    };
    effect.or(found.effect_where_counted.filter(|_| counted))
}

/// Returns whether the effect of a type depends on its place.
pub fn depends_on_place(name: &str) -> bool {
    find(name).is_some_and(|known| known.effect_where_counted.is_some())
}

/// Returns what a type does to who is inside; `None` for most.
pub fn passage_effect(name: &str) -> Option<PresenceChange> {
    find(name)?
        .presence_effect
        .filter(|effect| effect.is_passage())
}

/// The passage that the rules judge a type by.
pub fn judged(name: &str) -> Option<Passage> {
    find(name)?.judged
}

/// The activity's name for many of a type that machines repeat.
pub fn repeated(name: &str) -> Option<&'static str> {
    find(name)?.repeated
}

/// The names of the types of one effect on presence.
pub fn names_of(effect: PresenceChange) -> impl Iterator<Item = &'static str> {
    let of_effect = move |one: &&InteractionType| one.presence_effect == Some(effect);
    TYPES.iter().filter(of_effect).map(|one| one.name)
}

/// The column `effect` of a row of interactions as it must be, as an SQL expression. Where the effect
/// depends on the place, it stays as it was recorded.
pub fn effect_sql() -> String {
    let number = |effect: Option<PresenceChange>| {
        effect.map_or_else(|| "NULL".to_owned(), |effect| (effect as i64).to_string())
    };
    let cases: Vec<String> = TYPES
        .iter()
        .filter_map(|one| {
            let name = one.name;
            if let Some(effect) = one.effect_where_counted {
                return Some(format!(
                    "WHEN '{name}' THEN nullif(effect, nullif(effect, {}))",
                    effect as i64
                ));
            }
            if (one.presence_effect, one.effect_with_second) == (None, None) {
                return None;
            }
            let alone = number(one.presence_effect);
            let with_second = number(one.effect_with_second);
            Some(format!(
                "WHEN '{name}' THEN iif(second_delegate_id IS NULL, {alone}, {with_second})"
            ))
        })
        .collect();
    format!("CASE interaction_type {} END", cases.join(" "))
}

/// Lets follow what follows from an interaction that was just stored; the id of the `connected` that
/// it brought about.
pub fn follow_up(tx: &Tx<'_>, ctx: &Context, interaction: &Interaction) -> Result<Option<i64>> {
    let follow_up = find(&interaction.kind).and_then(|known| known.follow_up);
    match (follow_up, interaction.delegates[0]) {
        (Some(FollowUp::Connect), _) => connect(tx, ctx, interaction),
        (Some(FollowUp::FlagFeedback), Some(delegate)) => {
            flags::raise(tx, ctx, delegate, flags::SENT_FEEDBACK)?;
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Makes `connected` of two delegates who have each sent the other a `connect`, once; its id.
fn connect(tx: &Tx<'_>, ctx: &Context, interaction: &Interaction) -> Result<Option<i64>> {
    let [Some(one), Some(other), _] = interaction.delegates else {
        return Ok(None);
    };
    let mutual = one != other && exists_between(tx, other, one, CONNECT.name)?;
    if !mutual || are_connected(tx, one, other)? {
        return Ok(None);
    }
    let id = tx.new_interaction_id()?;
    tx.prepare_cached(
        "INSERT INTO interactions (id, interaction_type, first_delegate_id, second_delegate_id,
                                   recorded_at, created_at, client_id, user_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(rusqlite::params![
        id,
        CONNECTED.name,
        other,
        one,
        interaction.recorded_at,
        tx.now(),
        ctx.client,
        ctx.user
    ])?;
    Ok(Some(id))
}

/// Returns whether two delegates are connected.
pub fn are_connected(connection: &Connection, one: DelegateId, other: DelegateId) -> Result<bool> {
    Ok(exists_between(connection, one, other, CONNECTED.name)?
        || exists_between(connection, other, one, CONNECTED.name)?)
}

fn exists_between(
    connection: &Connection,
    first: DelegateId,
    second: DelegateId,
    kind: &str,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT 1 FROM interactions
             WHERE first_delegate_id = ?1 AND second_delegate_id = ?2 AND interaction_type = ?3",
        )?
        .exists(rusqlite::params![first, second, kind])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::text;
    use rusqlite::Connection;
    use std::collections::BTreeSet;

    /// A line for each type: its effect alone, with a second delegate, and where reads count, how it is judged, what
    /// follows, whether clients may post it, and whether gates may.
    #[test]
    fn the_table_says_what_each_type_means() {
        let lines: Vec<String> = TYPES
            .iter()
            .map(|one| {
                format!(
                    "{}: {:?} {:?} {:?} {:?} {:?} {} {}",
                    one.name,
                    one.presence_effect,
                    one.effect_with_second,
                    one.effect_where_counted,
                    one.judged,
                    one.follow_up,
                    one.postable,
                    one.of_gates
                )
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        check-in: Some(Enter) Some(Enter) None Some(In) None true true
        check-in-override: Some(Enter) Some(Enter) None None None true true
        check-out: Some(Exit) Some(Exit) None Some(Out) None true true
        join: Some(Join) Some(Join) None None None true true
        booking: Some(Join) Some(Join) None None None true false
        cancel-booking: Some(Leave) Some(Leave) None None None true false
        uninvite: Some(Leave) Some(LeaveSecond) None None None true false
        print: None None None None None true false
        own: None None None None None true false
        lead: None None None None None true false
        feedback: None None None None Some(FlagFeedback) true false
        order: None None None None None true false
        order-cleared: None None None None None true false
        connect: None None None None Some(Connect) true false
        connected: None None None None None false false
        seen: None None None None None true false
        entered: None None Some(Enter) None None true false
        exited: None None Some(Exit) None None true false
        ");
    }

    #[test]
    fn names_are_well_formed_and_stand_once() {
        let names: BTreeSet<_> = TYPES.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), TYPES.len());
        for one in &TYPES {
            assert!(text::is_interaction_type(one.name), "{}", one.name);
            assert!(!one.label.is_empty());
        }
    }

    #[test]
    fn sql_gives_the_effect_that_the_program_writes() {
        let file = Connection::open_in_memory().unwrap();
        let sql = format!(
            "SELECT {} FROM (SELECT ?1 AS interaction_type, ?2 AS second_delegate_id, ?3 AS effect)",
            effect_sql()
        );
        for name in TYPES.iter().map(|one| one.name).chain(["survey"]) {
            for (second, counted) in [(None, false), (Some(7), false), (None, true)] {
                let written = effect(name, second.is_some(), counted).map(|effect| effect as i64);
                let found: Option<i64> = file
                    .query_row(&sql, (name, second, written), |row| row.get(0))
                    .unwrap();
                assert_eq!(found, written, "{name} {second:?} {counted}");
            }
            let damaged: Option<i64> = file
                .query_row(&sql, (name, None::<i64>, 3), |row| row.get(0))
                .unwrap();
            assert_eq!(
                damaged == Some(3),
                effect(name, false, false) == Some(PresenceChange::Leave),
                "{name}"
            );
        }
    }
}
