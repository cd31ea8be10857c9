use super::*;
use crate::types::Zone;

fn german() -> Option<&'static Language> {
    choose(Some("de"), "")
}

fn in_german<T>(work: impl FnOnce() -> T) -> T {
    within(german(), work)
}

#[test]
fn the_language_is_the_chosen_one_or_what_the_browser_accepts() {
    for (chosen, accepted, code) in [
        (None, "", "en"),
        (None, "de-DE,de;q=0.9,en;q=0.8", "de"),
        (None, "fr,de;q=0.5,en;q=0.4", "de"),
        (None, "en-GB,de;q=0.5", "en"),
        (None, "de;q=0, fr", "en"),
        (None, "de;q=x, *", "en"),
        (Some("de"), "en", "de"),
        (Some("tlh"), "de", "de"),
    ] {
        let found = choose(chosen, accepted).map(|language| &*language.code);
        assert_eq!(found, Some(code), "{chosen:?} {accepted}");
    }
}

#[test]
fn outside_of_a_request_texts_are_english() {
    assert_eq!(t("common-cancel"), "Cancel");
    assert_eq!(in_german(|| t("common-cancel")), "Abbrechen");
    assert_eq!(in_german(|| t("no-such-key")), "no-such-key");
}

#[test]
fn numbers_choose_between_forms_and_are_written_as_the_language_does() {
    let days = |count: i64| tx("ago-days").with("count", count).to_string();
    assert_eq!([1, 2].map(days), ["yesterday", "2 days ago"]);
    assert_eq!(in_german(|| [1, 2].map(days)), ["gestern", "vor 2 Tagen"]);
    assert_eq!(number(-1_234_567), "-1,234,567");
    assert_eq!(in_german(|| number(1_234_567)), "1.234.567");
    assert_eq!(
        [bytes(1536), in_german(|| bytes(1536))],
        ["1.5 KiB", "1,5 KiB"]
    );
    let groups = || tx("delegates-count-groups").with("count", number(12_345));
    assert_eq!(groups().to_string(), "12,345 groups");
    assert_eq!(in_german(|| groups().to_string()), "12.345 Gruppen");
    // What only looks like a number stays as it is.
    for text in ["007", "1,23", "12345678901234567890", "+4", "1 000"] {
        let by = tx("common-by-by").with("by", text).to_string();
        assert_eq!(by, format!("by {text}"));
    }
}

#[test]
fn dates_are_written_as_the_language_does() {
    let zone = Zone::named("Europe/Berlin").expect("a zone");
    let at = |text: &str| zone.read_text(text).expect("a time");
    let (then, now) = (at("2026-09-24 09:02:00"), at("2026-09-25 10:00:00"));
    let all = || {
        [
            date_time(&zone, then),
            minute(&zone, then, now),
            minute(&zone, now, now),
            short_minute(&zone, then, now),
            short_minute(&zone, now, now),
            day_in_words(&zone, then),
            ago(then, now),
        ]
    };
    let english = [
        "2026-09-24 09:02:00",
        "09:02 on 2026-09-24",
        "10:00",
        "09-24 09:02",
        "10:00",
        "Thursday, 24 September",
        "yesterday",
    ];
    let german = [
        "24.09.2026 09:02:00",
        "09:02 am 24.09.2026",
        "10:00",
        "24.09. 09:02",
        "10:00",
        "Donnerstag, 24. September",
        "gestern",
    ];
    assert_eq!(all(), english);
    assert_eq!(in_german(all), german);
}

#[test]
fn what_goes_into_markup_is_escaped() {
    let name = r#"<b title="x">&'"#;
    let text = html("prepare-admitted-who-may-enter-place")
        .with("who", name)
        .with("place", "Hall")
        .to_string();
    assert_eq!(
        text,
        "<strong>Admitted.</strong> &#60;b title=&#34;x&#34;&#62;&#38;&#39; may enter Hall."
    );
}

#[test]
fn english_words_are_found_in_other_languages() {
    assert_eq!(say("Last name"), "Last name");
    let german = [
        ("Last name", "Nachname"),
        ("not registered for Hall 2", "nicht angemeldet für Hall 2"),
        (
            "Hall is full: 1,200 of 1,200 inside",
            "Hall ist voll: 1.200 von 1.200 drinnen",
        ),
        (
            "already used at Hall today at 09:02",
            "heute schon benutzt bei Hall um 09:02",
        ),
        (
            "already used at Hall at 09:02",
            "schon benutzt bei Hall um 09:02",
        ),
        ("Settings saved.", "Einstellungen gespeichert."),
        ("Grace Hopper saved.", "Grace Hopper gespeichert."),
        // What people named stays as they wrote it, though it be a word that is known.
        (
            "not registered for Entrance",
            "nicht angemeldet für Entrance",
        ),
        ("Check in at Sales", "Einchecken bei Sales"),
        ("Not registered for Hall 2.", "Nicht angemeldet für Hall 2."),
        (
            "Grace came. Not registered for Hall 2.",
            "Grace came. Nicht angemeldet für Hall 2.",
        ),
        ("Grace Hopper", "Grace Hopper"),
        (
            "24 done, 1 inside already.",
            "24 erledigt, 1 schon drinnen.",
        ),
        // Words of its own come before those that many a text fits, though a page made a sentence of it.
        (
            "Import 3 was interrupted: the disk is full",
            "Import 3 wurde unterbrochen: the disk is full",
        ),
        // A word such as "to" makes no sentence of any text.
        (
            "A way to a friend of the house",
            "A way to a friend of the house",
        ),
        ("09:00 to 17:00", "09:00 bis 17:00"),
        (
            "2026-11-21 09:00 to 2026-11-22 01:00:30",
            "21.11.2026 09:00 bis 22.11.2026 01:00:30",
        ),
        (
            "already used at Hall at 09:02 on 2026-11-21",
            "schon benutzt bei Hall um 09:02 am 21.11.2026",
        ),
        (
            "already used at Hall, North at 09:02 on 2026-11-21",
            "schon benutzt bei Hall, North um 09:02 am 21.11.2026",
        ),
        (
            "already checked in once at Hall, the most allowed; last at North at 09:02 on 2026-11-21",
            "schon einmal eingecheckt bei Hall, mehr ist nicht erlaubt; zuletzt bei North um 09:02 am 21.11.2026",
        ),
        ("Inside since 11:50", "Drinnen seit 11:50"),
        ("", ""),
    ];
    for (english, expected) in german {
        assert_eq!(in_german(|| say(english)), expected);
    }
}

#[test]
fn a_folder_adds_a_language_and_other_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("tlh.ftl", "language-name = tlhIngan\ncommon-cancel = qIl\n");
    write("de.ftl", "common-cancel = Zurück zur Liste\n");
    let languages = read(Some(folder.path())).expect("languages");
    let said = |code: &str, key: &str| {
        let language = languages.iter().find(|language| language.code == code);
        language.and_then(|language| language.format(key, None))
    };
    let codes: Vec<&str> = languages.iter().map(|language| &*language.code).collect();
    assert_eq!(codes, ["en", "de", "tlh"]);
    assert_eq!(said("tlh", "common-cancel").as_deref(), Some("qIl"));
    assert_eq!(said("tlh", "common-save"), None);
    assert_eq!(
        said("de", "common-cancel").as_deref(),
        Some("Zurück zur Liste")
    );
    assert_eq!(said("de", "common-show").as_deref(), Some("Anzeigen"));
    write("fr.ftl", "common-cancel = { $\n");
    assert!(read(Some(folder.path())).is_err());
    assert!(read(Some(&folder.path().join("none"))).is_err());
}

#[test]
fn longer_texts_have_a_file_in_each_language() {
    let subject = || {
        super::file("your_ticket.txt")
            .lines()
            .next()
            .map(str::to_owned)
    };
    assert_eq!(
        subject().as_deref(),
        Some("Your ticket for {{ settings.name }}")
    );
    let german = in_german(subject);
    assert_eq!(
        german.as_deref(),
        Some("Dein Ticket für {{ settings.name }}")
    );
}
