use super::*;

fn source(bytes: &[u8]) -> Result<Source> {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    // The file stays as long as the test runs: a source reads it again and again.
    let (_, path) = file.keep().unwrap();
    let source = Source::open(&path, "list.csv", Reading::default());
    if source.is_err() {
        std::fs::remove_file(path).unwrap();
    }
    source
}

fn rows(bytes: &[u8]) -> Vec<(u64, Content)> {
    let source = source(bytes).unwrap();
    let rows = source.rows().unwrap().map(|row| row.unwrap());
    let rows = rows.map(|row| (row.line, row.content)).collect();
    std::fs::remove_file(&source.path).unwrap();
    rows
}

fn cells(bytes: &[u8]) -> Vec<Vec<String>> {
    let cells = rows(bytes).into_iter().map(|(_, content)| match content {
        Content::Cells(cells) => cells,
        other => panic!("{other:?}"),
    });
    cells.collect()
}

fn header(bytes: &[u8]) -> Vec<String> {
    let source = source(bytes).unwrap();
    std::fs::remove_file(&source.path).unwrap();
    source.header.unwrap()
}

#[test]
fn the_delimiter_is_told_by_the_header() {
    for (text, width) in [
        ("a,b;c,d\n1;2;3;4;5", 3),
        ("a;b;c\n1,2,3,4,5,6", 3),
        ("a\tb,c\td\n", 3),
        ("a|b|c\n", 3),
        ("\"a,b,c,d\";e\n", 2),
        ("\"a\n,,,\";b\n", 2),
        ("barcode\nA,B", 1),
        ("\r\na;b", 2),
    ] {
        assert_eq!(header(text.as_bytes()).len(), width, "{text}");
    }
}

#[test]
fn a_first_line_that_names_the_delimiter_is_believed_and_is_no_row() {
    for end in ["\n", "\r\n"] {
        let text = ["sep=;", "a,b,c;d", "1,2;3"].join(end);
        assert_eq!(header(text.as_bytes()), ["a,b,c", "d"]);
        assert_eq!(
            rows(text.as_bytes()),
            [(3, Content::Cells(vec!["1,2".into(), "3".into()]))]
        );
    }
    assert_eq!(header(b"sep=x\n1\n"), ["sep=x"]);
}

#[test]
fn rows_of_nothing_but_delimiters_are_passed_over() {
    assert_eq!(cells(b"a;b;c\n;;\n1;;\n ; ;\n;;;;;\n"), [["1", "", ""]]);
}

#[test]
fn a_row_knows_its_line_whatever_ends_it() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["", "h,i", "", "a,\"b", "c\"", "", "", "d,e", "f,g"].join(end);
        let found: Vec<_> = rows(text.as_bytes())
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(found, [4, 8, 9], "{end:?}");
    }
    assert_eq!(rows(b"h\r\na\r\nb\r\n").len(), 2);
    assert!(rows(b"h\n").is_empty());
}

/// Longer than one read, so that line breaks fall on every side of its boundary.
#[test]
fn lines_are_counted_across_all_that_is_read_at_a_time() {
    for end in ["\n", "\r\n", "\r"] {
        for width in [1, 2, 3] {
            let row = "x".repeat(width) + end;
            let text = format!("h{end}") + &row.repeat(60_000);
            let last = rows(text.as_bytes()).pop().unwrap();
            assert_eq!(last.0, 60_001, "{end:?} {width}");
        }
    }
}

#[test]
fn encodings_are_recognised() {
    let utf_16 = |big: bool| -> Vec<u8> {
        let text = "\u{feff}Name,Ort\r\nJürgen,Łódź\r\n";
        let units = text.encode_utf16();
        units
            .flat_map(|unit| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            })
            .collect()
    };
    for (bytes, expected) in [
        (
            "Name,Ort\nJürgen,Łódź\n".as_bytes().to_vec(),
            ["Jürgen", "Łódź"],
        ),
        (
            "\u{feff}Name,Ort\nJürgen,Łódź\n".as_bytes().to_vec(),
            ["Jürgen", "Łódź"],
        ),
        (utf_16(false), ["Jürgen", "Łódź"]),
        (utf_16(true), ["Jürgen", "Łódź"]),
        (b"Name,Ort\nJ\xfcrgen,\x80 5\n".to_vec(), ["Jürgen", "€ 5"]),
    ] {
        assert_eq!(header(&bytes), ["Name", "Ort"]);
        assert_eq!(cells(&bytes), [expected]);
    }
}

#[test]
fn letters_of_central_europe_are_recognised_and_another_encoding_can_be_named() {
    let text = "Imię,Nazwisko,Miasto\nŁukasz,Wiśniewski,Łódź\nMałgorzata,Żółkiewska,Gdańsk\nŚwiętosława,Dąbrowska,Kraków\n";
    let rows = [
        ["Łukasz", "Wiśniewski", "Łódź"],
        ["Małgorzata", "Żółkiewska", "Gdańsk"],
        ["Świętosława", "Dąbrowska", "Kraków"],
    ];
    for (encoding, name) in [
        (encoding_rs::WINDOWS_1250, "Windows-1250"),
        (encoding_rs::ISO_8859_2, "ISO-8859-2"),
    ] {
        let (bytes, _, _) = encoding.encode(text);
        let source = source(&bytes).unwrap();
        assert_eq!(source.encoding().as_deref(), Some(name));
        assert!(source.about().starts_with(name), "{}", source.about());
        assert_eq!(cells(&bytes), rows, "{name}");
    }
    // One letter is not enough to tell.
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(b"name\n\xa3ukasz\n").unwrap();
    let named = |encoding| {
        let encoding = Some(encoding);
        Source::open(
            file.path(),
            "list.csv",
            Reading {
                encoding,
                ..Reading::default()
            },
        )
    };
    let source = named("windows-1250").unwrap();
    let row = source.rows().unwrap().next().unwrap().unwrap();
    assert_eq!(row.content, Content::Cells(vec!["Łukasz".into()]));
    for (encoding, told) in [
        ("UTF-8", "is not UTF-8: line 2"),
        ("klingon", "\"klingon\" is unknown; there are UTF-8,"),
    ] {
        let cause = named(encoding).unwrap_err();
        assert!(cause.to_string().contains(told), "{cause}");
    }
}

#[test]
fn what_is_no_list_is_refused_in_words() {
    for (bytes, told) in [
        (&b""[..], "is empty"),
        (b"\n\n", "is empty"),
        (b" , ,\n", "has no header"),
        (b"a,\"b\nc,d\n", "is not closed"),
        (b"\x01\x02\xff\xfe\x00", "is no text"),
        (
            b"a,b\nJ\xc3\xb6rg,Zo\xc3\xab\nJ\xf6rg,1\n",
            "but for a byte in line 3",
        ),
        (
            b"\xef\xbb\xbfa,b\nJ\xf6rg,Zo\xeb\n",
            "but for a byte in line 2",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "password"),
        (b"  <!DOCTYPE html><html>", "web page"),
        (b"PK\x03\x04 and nothing more", "damaged"),
        (b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "damaged"),
        (&[b','; 1_000], "has 1001 columns"),
        (&vec![b'"'; ROW_MAX_BYTES * 2 + 1], "not closed"),
    ] {
        let refused = source(bytes).unwrap_err().to_string();
        assert!(refused.contains(told), "{told}: {refused}");
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"a,b\n1,2\n3,4\n").unwrap();
    let refused = Source::open_within(file.path(), "a", Reading::default(), 8)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("larger than"), "{refused}");
}

#[test]
fn a_quotation_mark_that_is_not_closed_is_noticed() {
    let open: Vec<bool> = rows(b"a,b\n1,\"x\ny\"\n2,5\" nail\n3,\"z\n4,5\n")
        .into_iter()
        .map(|(_, content)| matches!(content, Content::Unreadable(_)))
        .collect();
    assert_eq!(open, [false, false, true]);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"a,b\n1,2\n").unwrap();
    let source = Source::open(file.path(), "list.csv", Reading::default()).unwrap();
    file.write_all(b"3,4\n").unwrap();
    let refused = source.rows().err().unwrap().to_string();
    assert!(refused.contains("was changed"), "{refused}");
}

#[test]
fn json_is_read_object_by_object() {
    let of = |name: &str, text: &str| -> Vec<String> {
        let mut file = tempfile::Builder::new().suffix(name).tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let source = match Source::open(file.path(), name, Reading::default()) {
            Ok(source) => source,
            Err(cause) => return vec![format!("refused: {cause}")],
        };
        let rows = source.rows().unwrap().map(|row| match row {
            Ok(Row {
                line,
                content: Content::Object(object),
                ..
            }) => {
                format!("{line} {object}")
            }
            Ok(Row { line, content, .. }) => format!("{line} {content:?}"),
            Err(cause) => format!("refused: {cause}"),
        });
        rows.collect()
    };
    assert_eq!(
        of(
            ".json",
            "\u{feff} [ {\"a\": \"}]\\\"\"},\n{\"b\": [{}]} ] \n"
        ),
        ["1 {\"a\": \"}]\\\"\"}", "2 {\"b\": [{}]}"]
    );
    assert_eq!(
        of(".ndjson", "{\"a\":1}\r\n\n{\"b\":2}"),
        ["1 {\"a\":1}\r\n", "3 {\"b\":2}"]
    );
    for (name, text, told) in [
        (".json", "[{\"a\":1},{\"b\"", "is cut off"),
        (".json", "[{\"a\":1} {\"b\":2}]", "a comma is missing"),
        (".json", "[{\"a\":1}] x", "goes on after"),
        (".json", "[1]", "is no JSON list of objects"),
        (".json", "[]", "is empty"),
    ] {
        let found = of(name, text).join("|");
        assert!(found.contains(told), "{text}: {found}");
    }
}

#[test]
fn cells_that_share_a_text_do_not_multiply_it() {
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    // A spreadsheet stores the text once.
    let text = "x".repeat(30_000);
    for column in 0..200 {
        sheet
            .write_string(0, column, format!("Column {column}"))
            .unwrap();
        sheet.write_string(1, column, &text).unwrap();
    }
    sheet.write_string(2, 0, &text).unwrap();
    let bytes = book.save_to_buffer().unwrap();
    let rows = rows(&bytes);
    assert!(
        matches!(&rows[0].1, Content::BadCell(_, reason, _) if reason.contains("4 MiB")),
        "{:?}",
        rows[0].0
    );
    assert_eq!(rows[1].1, Content::Cells(vec![text]));
}

fn called(name: &str, bytes: &[u8]) -> Result<(String, Vec<Vec<String>>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let source = Source::open(&path, name, Reading::default())?;
    let cells = source.rows()?.map(|row| match row.unwrap().content {
        Content::Cells(cells) => cells,
        other => panic!("{other:?}"),
    });
    Ok((source.about(), cells.collect()))
}

#[test]
fn a_schedule_of_a_conference_has_a_row_for_each_session() {
    let text = r#"{"$schema": "https://c3voc.de/schedule/schema.json", "schedule": {"version": "1", "conference": {"title": "RustDays", "days": [
        {"index": 1, "rooms": {
            "Hall 1": [{"guid": "0a1b", "id": 7, "date": "2026-05-01T10:00:00+02:00", "start": "10:00", "duration": "00:45", "title": "Keys, \"quoted\"",
                "track": "Core", "abstract": "", "description": "Of keys", "persons": [{"public_name": "Ada"}, {"name": "Grace"}]}],
            "Hall 2": []}},
        {"index": 2, "rooms": {"Hall 2": [{"id": 8, "date": "2026-05-02T09:30:00+02:00", "duration": "1:02:00", "title": "Sprint", "persons": []}]}}]}}}"#;
    let (about, rows) = called("schedule.json", text.as_bytes()).unwrap();
    assert_eq!(about, "the programme of a conference");
    let (first, second) = (&rows[0], &rows[1]);
    let expected = [
        "0a1b",
        "Keys, \"quoted\"",
        "Hall 1",
        "2026-05-01T10:00:00+02:00",
        "2026-05-01T08:45:00Z",
        "session",
        "Core",
        "Of keys",
        "Ada, Grace",
    ];
    assert_eq!(first[..], expected);
    assert_eq!(
        second[..5],
        [
            "8",
            "Sprint",
            "Hall 2",
            "2026-05-02T09:30:00+02:00",
            "2026-05-03T09:30:00Z"
        ]
    );
    // Another JSON that speaks of a schedule is a list as before.
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("list.json");
    let filler = "x".repeat(9 * 1024);
    let long = format!(
        "[{}]",
        vec![format!(r#"{{"schedule": "{filler}"}}"#); 1_000].join(",")
    );
    for list in [r#"[{"schedule": "a"}]"#, &long] {
        std::fs::write(&other, list).unwrap();
        let other = Source::open(&other, "list.json", Reading::default()).unwrap();
        assert_eq!(other.about(), "a JSON list");
    }
    assert!(
        called(
            "schedule.json",
            br#"{"schedule": {"conference": {"days": []}}}"#
        )
        .is_err()
    );
}

#[test]
fn a_calendar_has_a_row_for_each_event_at_its_time() {
    let text = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n\
        BEGIN:VEVENT\r\nUID:1@x\r\nSUMMARY:Opening\\, with coffee\r\nLOCATION:Hall 1\r\nDTSTART:20260501T080000Z\r\nDTEND:20260501T090000Z\r\nDESCRIPTION:One\\ntwo; and\r\n  more\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:2@x\r\nSUMMARY:There\r\nDTSTART;TZID=Europe/Berlin:20260501T100000\r\nDTEND;TZID=Europe/Berlin:20260501T110000\r\nCATEGORIES:Core\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:3@x\r\nSUMMARY:Here\r\nDTSTART;TZID=Nowhere:20260501T100000\r\nDTEND:20260501T110000\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:4@x\r\nSUMMARY:Off\r\nSTATUS:CANCELLED\r\nDTSTART:20260501T100000\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:5@x\r\nSUMMARY:All day\r\nDTSTART;VALUE=DATE:20260502\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let (about, rows) = called("programme.ics", text.as_bytes()).unwrap();
    assert_eq!(about, "a calendar");
    let told: Vec<_> = rows
        .iter()
        .map(|row| [&row[0], &row[1], &row[3], &row[4]])
        .collect();
    assert_eq!(
        told,
        [
            [
                "1@x",
                "Opening, with coffee",
                "2026-05-01T08:00:00Z",
                "2026-05-01T09:00:00Z"
            ],
            [
                "2@x",
                "There",
                "2026-05-01T08:00:00Z",
                "2026-05-01T09:00:00Z"
            ],
            ["3@x", "Here", "2026-05-01 10:00:00", "2026-05-01 11:00:00"],
            ["5@x", "All day", "2026-05-02", ""],
        ]
    );
    assert_eq!(
        (&*rows[0][2], &*rows[0][7], &*rows[1][6]),
        ("Hall 1", "One\ntwo; and more", "Core")
    );
    assert!(called("a.ics", b"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n").is_err());
    let long = format!("{text}{}", "X".repeat(8 * 1024 * 1024));
    let refused = called("a.ics", long.as_bytes()).unwrap_err();
    assert!(refused.message.contains("8 MiB"), "{refused}");
}
