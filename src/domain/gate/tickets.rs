//! The signed tickets of a file, as gates verify them without the server.

use crate::{
    core::{
        rules::folded,
        settings::Settings,
        ticket_keys::{self, TicketKey},
    },
    domain::delegates::{self, signed},
    types::{error::Result, signed_ticket::category_of},
};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// Returns the public keys, the names of types by their numbers, and the serials of cancelled tickets; `None` where there was
/// never a key.
pub fn shown(connection: &Connection, settings: &Settings) -> Result<Option<Value>> {
    let keys = ticket_keys::all(connection)?;
    if keys.is_empty() {
        return Ok(None);
    }
    let key = |key: &TicketKey| {
        if key.retired_at.is_some() {
            return json!({"kid": key.kid, "retired": true});
        }
        let days: Vec<_> = key.days(settings).iter().map(|day| day.0).collect();
        json!({"kid": key.kid, "publicKey": key.public_hex(), "days": days})
    };
    let keys: Vec<_> = keys.iter().map(key).collect();
    let mut types = Map::new();
    for (name, _) in delegates::counted_types(connection)? {
        let number = category_of(&folded(&name)).to_string();
        // Of two types with one number none is meant.
        let name = if types.contains_key(&number) {
            Value::Null
        } else {
            name.into()
        };
        types.insert(number, name);
    }
    types.retain(|_, name| !name.is_null());
    let cancelled = signed::cancelled(connection)?;
    Ok(Some(
        json!({"keys": keys, "types": types, "cancelled": cancelled}),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        core::{
            Context,
            records::write,
            scanned::Meaning,
            ticket_keys::{Signer, make, retire},
        },
        db::{Durability, Store, migrate},
        domain::{
            delegates::{RESOURCE, blocked, scanned, signed::Ticket},
            tickets,
        },
        types::{
            DelegateCode, DelegateId, LocalMinute, Timestamp,
            signed_ticket::{Claims, Serial},
        },
    };
    use ring::signature::{Ed25519KeyPair, KeyPair};
    use std::sync::Arc;

    const FIRST_DAY: &str = "2026-11-27";

    /// Attendees by id, from 1 on: their barcode, and their type.
    const PEOPLE: [(&str, &str); 5] = [
        ("ADA-1", "Visitor"),
        ("LOST-1", "Visitor"),
        ("GONE-1", "Visitor"),
        ("OLD-1", "Press"),
        ("0400-EVE", ""),
    ];

    fn now(settings: &Settings) -> Timestamp {
        let noon = LocalMinute::read("2026-11-28 12:00").expect("a time");
        settings.zone.instant(noon).expect("an instant")
    }

    /// Puts keys that are always the same in the place of those that were made.
    fn fix_keys(file: &Connection) {
        for kid in 1..=9_u8 {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[kid; 32]).expect("a key");
            file.execute(
                "UPDATE ticket_keys SET seed = ?2, public_key = ?3 WHERE kid = ?1",
                (kid, &[kid; 32], pair.public_key().as_ref()),
            )
            .expect("a key");
        }
    }

    /// The tickets of everybody by each of the keys 1 and 2: of the first three before one was blocked and one deleted.
    fn file(store: &Store) -> Vec<String> {
        let ctx = Context::of_command("test", Arc::default());
        let add = |work: fn(&crate::db::Tx<'_>, &Context) -> Result<()>| {
            let ctx = ctx.clone();
            store
                .write(move |tx| work(tx, &ctx))
                .wait()
                .expect("written");
        };
        add(|tx, ctx| {
            for (barcode, kind) in &PEOPLE[..4] {
                let body = json!({"barcode": barcode, "delegateType": kind});
                let body = body.as_object().cloned().unwrap_or_default();
                write::create(tx, ctx, &RESOURCE, body)?;
            }
            Ok(())
        });
        let first = ctx.clone();
        signed::with_serials(store, move |tx| make(tx, &first, FIRST_DAY)).expect("a key");
        add(|tx, ctx| {
            fix_keys(tx);
            make(tx, ctx, FIRST_DAY)?;
            fix_keys(tx);
            // Noted as it is written.
            let body = json!({"barcode": PEOPLE[4].0});
            write::create(
                tx,
                ctx,
                &RESOURCE,
                body.as_object().cloned().unwrap_or_default(),
            )?;
            Ok(())
        });
        let sign = |connection: &Connection| {
            let signer = Signer::find(connection, &ctx.settings)?.expect("a key");
            let all =
                (1..=5).map(|id| tickets::sign(connection, &ctx.settings, &signer, DelegateId(id)));
            all.map(|signed| Ok(signed?.expect("a ticket")))
                .collect::<Result<Vec<_>>>()
        };
        let newest = store.look_up(sign).expect("tickets");
        add(|tx, ctx| retire(tx, ctx, 2));
        let older = store.look_up(sign).expect("tickets");
        add(|tx, ctx| {
            blocked::block(
                tx,
                ctx,
                DelegateId(2),
                DelegateCode::Barcode,
                "reported lost",
                Some("NEW-1"),
            )?;
            write::delete(tx, ctx, &RESOURCE, 3)?;
            let body = json!({"barcode": "YOUNG-1"});
            write::patch(
                tx,
                ctx,
                &RESOURCE,
                4,
                body.as_object().cloned().unwrap_or_default(),
            )
        });
        older.into_iter().chain(newest).collect()
    }

    /// A ticket of the key 1, or of another key that says so.
    fn made(file: &Connection, code: &str, kind: &str, days: u16) -> String {
        let signer = Signer::find(file, &Settings::default())
            .expect("read")
            .expect("a key");
        let claims = Claims {
            kid: 0,
            serial: Serial::of(code),
            category: category_of(&folded(kind)),
            days,
        };
        signer.sign(claims).expect("a ticket")
    }

    fn foreign(kid: u8) -> Connection {
        let other = Connection::open_in_memory().expect("a file");
        migrate::create(&other).expect("a schema");
        let pair = Ed25519KeyPair::from_seed_unchecked(&[77; 32]).expect("a key");
        other
            .execute(
                "INSERT INTO ticket_keys (kid, seed, public_key, first_day, created_at) VALUES (?1, ?2, ?3, ?4, 0)",
                (kid, &[77_u8; 32], pair.public_key().as_ref(), FIRST_DAY),
            )
            .expect("a key");
        other
    }

    fn flipped(ticket: &str, at: usize) -> String {
        let mut bytes = ticket.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'7' { b'8' } else { b'7' };
        String::from_utf8(bytes).expect("symbols")
    }

    /// The texts that are scanned, each with what it is.
    fn scans(file: &Connection, tickets: &[String]) -> Vec<(String, String)> {
        let (ada, eve) = (&tickets[0], &tickets[4]);
        let groups = |mark: &str| {
            let groups = ada.as_bytes().chunks(4).map(String::from_utf8_lossy);
            groups.collect::<Vec<_>>().join(mark)
        };
        let alike = ada.to_lowercase().replace('0', "O").replace('1', "l");
        let mut scans = vec![
            ("a ticket", ada.clone()),
            ("without a type and an event", eve.clone()),
            ("lower case", ada.to_lowercase()),
            ("O for 0, l for 1", alike.clone()),
            ("I for 1", alike.replace('l', "I")),
            ("in groups", groups(" ")),
            ("with dashes", groups("-")),
            ("with an AIM prefix", format!("]Q1{ada}\r\n")),
            ("blocked", tickets[1].clone()),
            ("deleted", tickets[2].clone()),
            ("another barcode since", tickets[3].clone()),
            ("a retired key", tickets[5].clone()),
            (
                "not in the list, any day",
                made(file, "LATE-1", "visitor", 0),
            ),
            (
                "not in the list, today",
                made(file, "LATE-1", "Visitor", 0b10),
            ),
            (
                "not in the list, the day before",
                made(file, "LATE-1", "Visitor", 1),
            ),
            (
                "not in the list, the days around",
                made(file, "LATE-1", "Visitor", 0b101),
            ),
            (
                "not in the list, another type",
                made(file, "LATE-2", "Astronaut", 0b11),
            ),
            (
                "a key of somebody else",
                made(&foreign(9), "ADA-1", "Visitor", 0),
            ),
            (
                "a key of somebody else with our number",
                made(&foreign(1), "ADA-1", "Visitor", 0),
            ),
            ("truncated", ada[..119].to_owned()),
            ("truncated at the beginning", ada[1..].to_owned()),
            ("too long", format!("{ada}0")),
            ("a letter that is no symbol", format!("{}U", &ada[..119])),
            ("120 symbols", "7".repeat(120)),
            ("a code", "ADA-1".to_owned()),
            ("nothing", String::new()),
        ];
        scans.extend(
            (0..120)
                .step_by(7)
                .chain([119])
                .map(|at| ("another symbol", flipped(ada, at))),
        );
        scans
            .into_iter()
            .map(|(what, text)| (what.to_owned(), text))
            .collect()
    }

    /// Whom or what the server finds.
    fn found(file: &Connection, settings: &Settings, text: &str) -> Value {
        let meaning = scanned::meaning(file, text).expect("a meaning");
        if let Meaning::Match(found) = &meaning
            && !found.is_blocked
        {
            return json!(found.id);
        }
        let reason = scanned::missing(file, text, &meaning)
            .expect("a reason")
            .reason;
        if reason != Some("unlisted") {
            return json!(reason);
        }
        let Some(Ticket::Unlisted(claims)) = signed::read(file, text).expect("read") else {
            unreachable!("{text} has no claims");
        };
        let days = ticket_keys::all(file)
            .expect("keys")
            .remove(1)
            .days(settings);
        let today = days
            .iter()
            .rposition(|day| *day <= now(settings))
            .expect("a day");
        let types = delegates::types(file).expect("types");
        let kind = types
            .iter()
            .find(|name| category_of(&folded(name)) == claims.category);
        json!({"type": kind, "isForToday": claims.days == 0 || claims.is_for(today)})
    }

    /// Compares what was found with what each scan is.
    fn compare(cases: &[Value]) {
        let expect = |what: &str, expected: Value| {
            let mut cases = cases.iter().filter(|case| case[0] == what).peekable();
            assert!(cases.peek().is_some(), "{what}");
            cases.for_each(|case| assert_eq!(case[2], expected, "{case}"));
        };
        for what in [
            "a ticket",
            "lower case",
            "O for 0, l for 1",
            "I for 1",
            "in groups",
            "with dashes",
            "with an AIM prefix",
            "a code",
        ] {
            expect(what, json!(1));
        }
        expect("without a type and an event", json!(5));
        expect("blocked", json!("blocked"));
        for what in ["deleted", "another barcode since"] {
            expect(what, json!("cancelled"));
        }
        expect("a retired key", json!("retired-key"));
        let unlisted = |kind, is_for_today| json!({"type": kind, "isForToday": is_for_today});
        expect("not in the list, any day", unlisted(Some("Visitor"), true));
        expect("not in the list, today", unlisted(Some("Visitor"), true));
        expect(
            "not in the list, the day before",
            unlisted(Some("Visitor"), false),
        );
        expect(
            "not in the list, the days around",
            unlisted(Some("Visitor"), false),
        );
        expect("not in the list, another type", unlisted(None, true));
        for what in [
            "a key of somebody else",
            "a key of somebody else with our number",
            "another symbol",
            "120 symbols",
        ] {
            expect(what, json!("forged"));
        }
        for what in [
            "truncated",
            "truncated at the beginning",
            "too long",
            "a letter that is no symbol",
            "nothing",
        ] {
            expect(what, json!("unknown"));
        }
    }

    #[test]
    fn signed_tickets_are_judged_and_written_down_for_gates() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("a.db"), Durability::Normal).expect("a file");
        let tickets = file(&store);
        let settings = Settings::default();
        let (cases, shown) = store
            .look_up(|file| {
                let cases = scans(file, &tickets).into_iter().map(|(what, text)| {
                    let found = found(file, &settings, &text);
                    json!([what, text, found])
                });
                Ok((cases.collect::<Vec<_>>(), shown(file, &settings)?))
            })
            .expect("read");
        compare(&cases);
        let fresh = json!({
            "about": "Written by src/domain/gate/tickets.rs: what GET /gate says, the attendees, and what each scan is.",
            "tickets": shown, "now": now(&settings).0,
            "people": [[1, "ADA-1"], [2, "NEW-1"], [4, "YOUNG-1"], [5, "0400-EVE"]],
            "blocked": ["LOST-1"], "cases": cases,
        });
        let fresh = fresh.to_string().replace("],[", "],\n[") + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gate/signed.json");
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            std::fs::write(path, &fresh).expect("written");
        }
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == fresh,
            "tests/gate/signed.json is stale: run this test with INSTA_UPDATE=always, then tests/gate"
        );
    }
}
