//! Lists as shops, spreadsheets and other people write them: each is a kind of damage or of shape.

mod shops;
mod spreadsheets;

use super::Site;
use crate::harness::{Agrees, has};
use serde_json::{Value, json};

/// Imports a list; the answer, whether it was imported or not.
fn tried(site: &Site, what: &str, list: &str, options: &[&str]) -> Value {
    let output = site.run(&[&["import", what, list, "--json"], options].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn codes(site: &Site) -> String {
    site.text("SELECT coalesce(group_concat(barcode, ' '), '') FROM (SELECT barcode FROM delegates ORDER BY id)")
}

#[test]
fn what_surrounds_a_code_is_taken_off_and_counted() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "Barcode,Last name,Phone\n'0001,'t Hooft,'+49301\n\"=\"\"0002\"\"\",B,'0301\n\
         \u{200b}AB\u{200e}3\u{a0},Anna\u{a0}Lena,\n\u{410}B-4,D,\n",
    );
    let told = site.told(&["import", "delegates", &list]);
    assert_eq!(codes(&site), "0001 0002 AB3 AB-4");
    has(
        told["recognised"].to_string(),
        [
            "2 cells of \\\"Barcode\\\" were unwrapped",
            "1 cell of \\\"Barcode\\\" had invisible marks",
            "1 cell of \\\"Barcode\\\" had letters or signs of another script",
            "1 cell of \\\"Last name\\\" had invisible marks",
        ],
    );
    let found = site.exported("delegates");
    found[0].agrees(&json!({"lastName": "'t Hooft", "phone": "+49301"}));
    found[2].agrees(&json!({"lastName": "Anna Lena"}));
}

#[test]
fn a_code_that_a_spreadsheet_shortened_is_a_bad_row_and_overwrites_nothing() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "First name;Barcode;Phone\nA;1,59002E+17;x\nB;4.0053E+12;4,9E+12\nC;12E34;\n",
    );
    let told = tried(&site, "delegates", &list, &["--skip-bad"]);
    told.agrees(&json!({"badRows": 2, "imported": 1}));
    has(
        told["bad"][0]["reason"].to_string(),
        "a number as a spreadsheet shows it",
    );
    has(told["warnings"].to_string(), "that a spreadsheet shortened");
    assert_eq!(codes(&site), "12E34");
    // An export that was saved by a spreadsheet is held to that as well.
    let id = site.text("SELECT public_id FROM delegates");
    let saved = format!("_type;publicId;barcode;firstName\ndelegate;{id};1,23457E+15;Uma\n");
    let saved = site.file("saved.csv", saved);
    let told = tried(&site, "delegates", &saved, &["--key", "publicId"]);
    told.agrees(&json!({"badRows": 1, "imported": 0}));
    assert_eq!(codes(&site), "12E34");
    // What a record has already may be sent back as it is.
    site.import(
        "delegates",
        "old.json",
        "[{\"barcode\": \"1,5E+15\", \"slug\": \"old\"}]",
        &[],
    );
    let same = site.file("same.csv", "slug,barcode,company\nold,\"1,5E+15\",Works\n");
    site.told(&["import", "delegates", &same, "--key", "slug"])
        .agrees(&json!({"updated": 1}));
}

#[test]
fn an_order_of_day_and_month_is_asked_for_once_and_never_guessed() {
    let site = Site::new();
    let list = site.file(
        "dates.csv",
        "code,name,startAt\na,A,13/06/2027 09:00\nb,B,06/13/2027 09:00 AM\nc,C,05/06/2027 09:00\n\
         d,D,13-Jun-27 9:00\ne,E,2027-06-13T09:00\nf,F,2027/06/13 09:00\ng,G,13.06.27 09:00\n",
    );
    let refused = site.refused(&["import", "devices", &list, "--skip-bad"]);
    has(
        &refused,
        ["can be read in several ways", "--dates dmy", "--dates mdy"],
    );
    let told = tried(&site, "devices", &list, &["--dates", "dmy", "--skip-bad"]);
    told.agrees(&json!({"imported": 6, "badRows": 1}));
    told["bad"][0].agrees(&json!({"line": 3}));
    let same = "devices WHERE start_at = (SELECT start_at FROM devices WHERE code = 'e')";
    assert_eq!(site.rows(same), 5);
    // What only one order fits needs no answer, and is told.
    let site = Site::new();
    let list = site.file(
        "us.csv",
        "code,name,startAt\na,A,06/13/2027\nb,B,05/06/2027\n",
    );
    let told = site.told(&["import", "devices", &list]);
    has(told["recognised"].to_string(), "are month, day, year");
    assert_eq!(
        site.text("SELECT date(max(start_at) / 1000, 'unixepoch') FROM devices"),
        "2027-06-13"
    );
    assert_eq!(
        site.text("SELECT date(min(start_at) / 1000, 'unixepoch') FROM devices"),
        "2027-05-06"
    );
}

#[test]
fn dates_and_times_in_two_columns_are_joined_and_changes_of_the_clocks_told() {
    let site = Site::new();
    site.applied(&json!({"settings": {"timeZone": "Europe/Berlin"}}), &[]);
    site.import("delegates", "people.csv", "barcode\nH-1\nH-2\n", &[]);
    let list = site.file(
        "history.csv",
        "barcode,date,time\nH-1,2027-03-28,02:30:00\nH-2,2027-06-12,09:44:51\nH-9,2027-10-31,02:30\n",
    );
    let refused = site.refused(&["import", "interactions", &list]);
    has(&refused, "no column says what happened");
    let told = tried(
        &site,
        "interactions",
        &list,
        &["--set", "interactionType=check-in", "--skip-bad"],
    );
    told.agrees(&json!({"imported": 2, "badRows": 1}));
    has(told["bad"].to_string(), "there is no delegate barcode:H-9");
    let warnings = told["warnings"].to_string();
    has(
        &warnings,
        [
            "the clocks leave out; read an hour later",
            "the clocks show twice",
        ],
    );
    let times: Vec<_> = site
        .exported("interactions")
        .iter()
        .map(|one| one["recordedAt"].clone())
        .collect();
    assert_eq!(
        times,
        ["2027-03-28T03:30:00+02:00", "2027-06-12T09:44:51+02:00"]
    );
    // Sessions share a day.
    site.import(
        "devices",
        "sessions.csv",
        "code,Titel,Datum,Beginn,Ende\ns,Talk,12.06.27,9:00,10h30\n",
        &[],
    );
    site.exported("devices")[0].agrees(
        &json!({"startAt": "2027-06-12T09:00:00+02:00", "endAt": "2027-06-12T10:30:00+02:00"}),
    );
}

#[test]
fn whole_names_are_split_and_one_value_for_all_is_no_code() {
    let site = Site::new();
    let list = site.file(
        "list.csv",
        "Attendee,Code,NFC,UHF tag,Barcode\n\"Ost, Ada\",FAIR27,04A1,e7e70001,L-1\nLise van West,FAIR27,04A2,e7e70002,L-2\n\
         Una,FAIR27,04A3,e7e70003,L-3\n",
    );
    let told = site.told(&["import", "delegates", &list]);
    has(
        told["recognised"].to_string(),
        [
            "holds whole names, which are split",
            "\\\"Code\\\" has one value for all, so it is no code",
        ],
    );
    let found = site.exported("delegates");
    found[0].agrees(
        &json!({"firstName": "Ada", "lastName": "Ost", "rfid": "04A1", "uhfId": "e7e70001"}),
    );
    found[1].agrees(&json!({"firstName": "Lise", "lastName": "van West"}));
    assert_eq!(found[1]["data"]["Data"]["Code"], "FAIR27");
}

#[test]
fn a_list_of_check_ins_may_be_of_one_place() {
    let site = Site::new();
    site.import("devices", "places.csv", "code,name\nhall,Hall\n", &[]);
    site.import(
        "delegates",
        "people.csv",
        "barcode,First name,Type\nL-1,Ada,Press\nL-2,Bea,Guest\n",
        &[],
    );
    site.exported("delegates")[0].agrees(&json!({"delegateType": "Press"}));
    let list = "type,delegate barcode,device code,time\ncheck-in,L-1,hall,2026-11-01 09:00\ncheck-in,L-2,hall,2026-11-01 09:01\n";
    site.import("interactions", "scans.csv", list, &[]);
    let found = site.exported("interactions");
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|scan| !scan["firstDevice"].is_null()),
        "{found:?}"
    );
}

#[test]
fn texts_of_old_macs_and_with_a_declared_delimiter_are_read() {
    let site = Site::new();
    let windows = &["--encoding", "windows-1252"][..];
    for (name, list, options) in [
        (
            "mac.csv",
            &b"First name,Last name\nRen\x8e,F\x8evrier\nMa\x91lle,No\x91l\n"[..],
            &[][..],
        ),
        (
            "sep.csv",
            b"\xef\xbb\xbf\"sep=;\"\r\nFirst name;Last name\r\nUma;Bom\r\n",
            &[],
        ),
        (
            "ansi.csv",
            b"First name,Last name\nS\x94ren,O\x92Brien \x80\n",
            windows,
        ),
        (
            "ansi2.csv",
            b"First name,Last name\nJ\xf6rg,D\x92Angelo\nZo\xeb,Wei\xdf\n",
            &[],
        ),
    ] {
        site.import("delegates", name, list, options);
    }
    let names = "SELECT group_concat(first_name || ' ' || last_name, '|') FROM (SELECT * FROM delegates ORDER BY id)";
    assert_eq!(
        site.text(names),
        "René Février|Maëlle Noël|Uma Bom|S”ren O’Brien €|Jörg D’Angelo|Zoë Weiß"
    );
}

#[test]
fn one_person_twice_is_told_and_made_one_by_a_key() {
    let list = "First name,Last name,Email,Barcode\nAda,Twice, ada@example.org ,D-1\nAda,Twice,ADA@example.org,D-2\nBea,Once,bea@example.org,D-3\n";
    let site = Site::new();
    let file = site.file("list.csv", list);
    let told = site.told(&["import", "delegates", &file]);
    told.agrees(&json!({"created": 3}));
    has(
        told["warnings"].to_string(),
        "1 row has the e-mail address of a row above",
    );
    let site = Site::new();
    let file = site.file("list.csv", list);
    let told = site.told(&["import", "delegates", &file, "--key", "email"]);
    told.agrees(&json!({"created": 2, "updated": 1, "badRows": 0}));
    has(told["warnings"].to_string(), "the last row counts");
    assert_eq!(codes(&site), "D-2 D-3");
    // Somebody else has the address of a family; the name tells who is meant.
    site.import(
        "delegates",
        "other.csv",
        "First name,Last name,Email\nCy,Twice,ada@example.org\n",
        &[],
    );
    let change = site.file(
        "change.csv",
        "First name,Last name,Email,Company\nCy,Twice,ADA@example.org,Works\n",
    );
    has(
        site.refused(&["import", "delegates", &change, "--key", "email"]),
        "several attendees",
    );
    site.told(&["import", "delegates", &change, "--key", "name+email"])
        .agrees(&json!({"updated": 1}));
    assert_eq!(
        site.text("SELECT first_name FROM delegates WHERE company = 'Works'"),
        "Cy"
    );
    for import in ["3", "2", "1"] {
        site.told(&["import", "--undo", import])
            .agrees(&json!({"left": 0}));
    }
    assert_eq!(site.rows("delegates"), 0);
}

/// As conference tools give it; a second time it changes what the programme changed, and adds nothing twice.
#[test]
fn a_programme_of_a_conference_becomes_sessions_in_rooms() {
    let site = Site::new();
    let schedule = |date: &str| {
        let session = json!({"guid": "g1", "title": "Keys", "date": date, "duration": "00:45", "track": "Core", "persons": [{"public_name": "Ada"}]});
        json!({"schedule": {"conference": {"days": [{"rooms": {"Attic": [session]}}]}}}).to_string()
    };
    let list = site.file("schedule.json", schedule("2026-05-01T10:00:00+02:00"));
    site.told(&["import", "devices", &list])
        .agrees(&json!({"created": 1}));
    let calendar = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:c1\r\nSUMMARY:Sprint\r\nLOCATION:Attic\r\nDTSTART:20260502T080000Z\r\n\
                    DTEND:20260502T093000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let calendar = site.file("programme.ics", calendar);
    site.told(&["import", "devices", &calendar]);
    let sessions = "SELECT group_concat(d.name || ' ' || d.external_id || ' ' || p.name || ' ' || d.device_type || ' ' ||
            datetime(d.start_at / 1000, 'unixepoch') || ' ' || datetime(d.end_at / 1000, 'unixepoch'), '; ')
        FROM (SELECT * FROM devices ORDER BY id) d JOIN devices p ON p.id = d.parent_id";
    assert_eq!(
        site.text(sessions),
        "Keys g1 Attic session 2026-05-01 08:00:00 2026-05-01 08:45:00; Sprint c1 Attic session 2026-05-02 08:00:00 2026-05-02 09:30:00"
    );
    assert_eq!(
        site.text(
            "SELECT category || (data ->> '$.Data.Speakers') FROM devices WHERE external_id = 'g1'"
        ),
        "CoreAda"
    );
    let list = site.file("schedule.json", schedule("2026-05-01T11:00:00+02:00"));
    site.told(&["import", "devices", &list, "--key", "externalId"])
        .agrees(&json!({"updated": 1, "created": 0}));
    has(
        site.text(sessions),
        ["Keys g1 Attic session 2026-05-01 09:00:00"],
    );
    assert_eq!(site.rows("devices"), 3);
}

#[test]
fn a_session_list_makes_rooms_limits_and_parents() {
    let site = Site::new();
    site.import(
        "devices",
        "halls.csv",
        "code,name,deviceType\nhall,Main Hall,room\n",
        &[],
    );
    let list = site.file(
        "sessions.csv",
        "Session,Room,Capacity,Speaker\nOpening,Main Hall,120,A. Ost\nTalk,Attic,30,B. West\nPanel,Attic,,\n",
    );
    let told = site.told(&["import", "devices", &list]);
    has(told["recognised"].to_string(), "every row is a session");
    let tree = "SELECT group_concat(d.name || ':' || coalesce(d.device_type, '') || ':' || coalesce(p.name, ''), ' ')
        FROM (SELECT * FROM devices ORDER BY id) d LEFT JOIN devices p ON p.id = d.parent_id";
    assert_eq!(
        site.text(tree),
        "Main Hall:room: Opening:session:Main Hall Attic:room: Talk:session:Attic Panel:session:Attic"
    );
    let limits = "SELECT group_concat(data ->> '$.Access.capacity') FROM devices";
    assert_eq!(site.text(limits), "120,30");
    assert_eq!(
        site.text("SELECT data ->> '$.Data.Speaker' FROM devices WHERE name = 'Talk'"),
        "B. West"
    );
    site.told(&["import", "--undo", "2"])
        .agrees(&json!({"removed": 4, "left": 0}));
    // Parents by their names, wherever in the list they stand.
    let list = site.file(
        "tree.csv",
        "name,deviceType,parent\nStage,stand,Attic\nAttic,room,Main Hall\nLoft,room,Cellar\n",
    );
    let refused = site.refused(&["import", "devices", &list]);
    has(&refused, ["line 4", "nor in this list"]);
    site.run(&["import", "devices", &list, "--skip-bad"]);
    assert_eq!(
        site.text(tree),
        "Main Hall:room: Stage:stand:Attic Attic:room:Main Hall"
    );
}
