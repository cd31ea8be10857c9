use super::*;
use crate::{
    core::Context,
    ops::import::{Columns, Mapping, bad::LISTED_MAX, batches::Options, source::Reading},
};
use std::{io::Write, sync::Arc};

fn checked(what: What, text: &str) -> Checked {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let source = Source::open(file.path(), Reading::default()).unwrap();
    let skips = source
        .header()
        .unwrap()
        .iter()
        .any(|header| header == "Skip");
    let skip = Mapping::parse("Skip=").unwrap();
    let mappings = if skips { vec![skip] } else { vec![] };
    let plan = Plan {
        what,
        columns: Columns::of(what, &source, &mappings).unwrap(),
        key: None,
        device: None,
        options: Options::default(),
        ctx: Context::of_command("import", Arc::default()),
    };
    check(&source, &plan, None, None, &Background::unchanged(), |_| {
        ControlFlow::Continue(())
    })
    .unwrap()
}

fn told(what: What, text: &str) -> Vec<String> {
    let checked = checked(what, text);
    checked
        .bad
        .listed()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn a_bad_row_is_told_with_line_column_and_reason() {
    let long = "x".repeat(256);
    for (rows, expected) in [
        ("A,b@x\nC,d@x", ""),
        ("A,\nB,", ""),
        (",a@x\n,a@x", ""),
        (" , ", ""),
        ("A", "line 2: has 1 columns, the header has 2"),
        ("A,B,C", "line 2: has 3 columns, the header has 2"),
        ("A,b@x,, ", ""),
        (
            "A,x@x\nB,\nA,y@x",
            "line 4, column \"Ticket code\": barcode: duplicate, same as line 2",
        ),
        ("A,x@x\n'A,", ""),
        (
            "=A,x@x\n'=A,",
            "line 3, column \"Ticket code\": barcode: duplicate, same as line 2",
        ),
        (
            "A\0,x@x",
            "line 2, column \"Ticket code\": barcode: must not contain a NUL character",
        ),
        (
            "A,\0",
            "line 2, column \"E-mail\": email: must not contain a NUL character",
        ),
        (
            "A,\"x\nB,y\nC,z",
            "line 2: a quotation mark is not closed; what follows was read as part of this row",
        ),
        (
            "A,x\n\"B,y",
            "line 3: a quotation mark is not closed; what follows was read as part of this row",
        ),
        (
            &format!("{long},x"),
            "line 2, column \"Ticket code\": barcode: must have at most 255 characters",
        ),
    ] {
        let text = format!("Ticket code,E-mail\n{rows}\n");
        assert_eq!(told(What::Delegates, &text).join("|"), expected, "{rows}");
    }
}

#[test]
fn devices_and_interactions_are_checked_as_the_api_would() {
    for (text, expected) in [
        (
            "name,available\nHall,perhaps\n",
            "line 2, column \"available\": available: must be true or false, yes or no",
        ),
        (
            "name,start,end\nHall,2026-11-21 10:00,2026-11-21 09:00\n",
            "line 2, column \"end\": endAt: must not be before startAt",
        ),
        (
            "name,Access.capacity\nHall,many\n",
            "line 2, column \"Access.capacity\": data.Access.capacity: must be a whole number",
        ),
        ("name,Access.capacity\nHall,120\n", ""),
        ("name,code,parent\nHall,h,\nRoom,r,code:h\n", ""),
        ("name,code,parent\nRoom,r,code:h\nHall,h,\n", ""),
        (
            "name,code,parent\nRoom,r,code:x\nHall,h,\n",
            "line 2, column \"parent\": parent: there is no device code:x, nor in this list",
        ),
    ] {
        let found = told(What::Devices, text).join("|");
        assert!(
            found.starts_with(expected) && found.is_empty() == expected.is_empty(),
            "{found}"
        );
    }
    for (row, expected) in [
        (
            "check-in,X",
            "line 2, column \"barcode\": firstDelegate: there is no delegate barcode:X",
        ),
        (",X", "interactionType: is missing"),
        ("Check-In,X", "malformed"),
    ] {
        let found = told(What::Interactions, &format!("type,barcode\n{row}\n")).join("|");
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_code_of_a_bad_row_is_free_for_a_good_one() {
    let found = told(What::Delegates, "code,email\nA,\0\nA,a@x\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("line 2,"));
}

#[test]
fn columns_that_are_not_imported_do_not_count_as_values() {
    assert_eq!(
        told(What::Delegates, "code,Skip,\n,x,\nA,,y\nB,,\n"),
        [
            "line 2: has no values but in columns that are skipped",
            "line 3: has a value in column 3, which has no header",
        ]
    );
}

#[test]
fn of_many_bad_rows_the_first_are_told() {
    let checked = checked(
        What::Delegates,
        &("code,slug\n".to_owned() + &"\0,\n".repeat(LISTED_MAX + 150)),
    );
    assert_eq!(checked.bad.count(), LISTED_MAX + 150);
    assert_eq!(checked.bad.listed().len(), LISTED_MAX);
    assert!(checked.bad.contains(checked.rows - 1) && !checked.bad.contains(checked.rows));
}
