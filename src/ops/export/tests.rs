use super::*;
use crate::{
    core::{Context, records},
    db::Durability,
    ops::import::source::{Content, Reading, Source},
};
use serde_json::{Value, json};
use std::sync::Arc;

fn store_of(bodies: &[Value]) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("a.db"), Durability::Normal).unwrap();
    let bodies: Vec<_> = bodies
        .iter()
        .map(|body| body.as_object().unwrap().clone())
        .collect();
    store
        .write(move |tx| {
            let ctx = Context::of_command("api", Arc::default());
            for body in bodies {
                records::write::create(tx, &ctx, &crate::domain::delegates::RESOURCE, body)?;
            }
            Ok(())
        })
        .wait()
        .unwrap();
    (folder, store)
}

fn export(store: &Store, which: Which) -> Export<'_> {
    Export {
        store,
        zone: Zone::default(),
        what: What::Delegates,
        which,
        background: Background::unchanged(),
    }
}

fn sheet(sheet: Option<&str>) -> Reading<'_> {
    Reading {
        sheet,
        ..Reading::default()
    }
}

fn csv(store: &Store, which: Which) -> String {
    let mut out = Vec::new();
    export(store, which).write(Format::Csv, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn parts_of_data_have_columns_where_a_cell_can_hold_them() {
    let (_folder, store) = store_of(&[
        json!({"barcode": "=A", "data": {"Data": {"Diet": "vegan", "n": 5}, "S": {"a": "x", "b.c": " y "}}}),
        json!({"barcode": "B", "data": {"Data": {"n": "5", "e": ""}, "S": {"a": {"deep": 1}}, "T x": {"k": 1}, "U": {}}}),
    ]);
    let text = csv(&store, Which::All);
    let mut lines = text.split("\r\n");
    let header = lines.next().unwrap();
    assert!(
        header.ends_with(",Data.Diet,Data.e (json),Data.n (json),S.a (json),S.b.c,data"),
        "{header}"
    );
    assert!(header.starts_with("\u{feff}id,_type,"), "{header}");
    let first = lines.next().unwrap();
    assert!(first.contains(",'=A,"), "{first}");
    assert!(first.ends_with(",vegan,,5,\"\"\"x\"\"\", y ,"), "{first}");
    let second = lines.next().unwrap();
    assert!(
        second.ends_with(
            ",,\"\"\"\"\"\",\"\"\"5\"\"\",\"{\"\"deep\"\":1}\",,\"{\"\"T x\"\":{\"\"k\"\":1},\"\"U\"\":{}}\""
        ),
        "{second}"
    );
}

#[test]
fn only_those_that_a_search_found_are_exported() {
    let bodies: Vec<_> = (0..2_500)
        .map(|n| json!({"code": format!("C{n}")}))
        .collect();
    let (_folder, store) = store_of(&bodies);
    assert_eq!(csv(&store, Which::All).lines().count(), 2_501);
    let some = (1..=2_500)
        .filter(|id| id % 2 == 0)
        .chain([9_999])
        .collect();
    let text = csv(&store, Which::Ids(some));
    assert_eq!(text.lines().count(), 1_251);
    assert!(text.contains(",C1,") && !text.contains(",C0,"));
}

#[test]
fn past_the_last_row_of_a_sheet_it_goes_on_in_another_and_is_read_back_as_one() {
    let bodies: Vec<_> = (0..25).map(|n| json!({"code": format!("00{n}")})).collect();
    let (folder, store) = store_of(&bodies);
    let path = folder.path().join("a.xlsx");
    let mut file = std::fs::File::create(&path).unwrap();
    let written = export(&store, Which::All).write_in_sheets(Format::Xlsx, 11, &mut file);
    assert_eq!(written.unwrap(), Counts { rows: 25, cut: 0 });
    let source = Source::open(&path, Reading::default()).unwrap();
    assert!(
        source.about().contains("\"delegates 3\""),
        "{}",
        source.about()
    );
    let column = source
        .header()
        .unwrap()
        .iter()
        .position(|name| name == "code")
        .unwrap();
    let codes: Vec<_> = source
        .rows()
        .unwrap()
        .map(|row| match row.unwrap().content {
            Content::Cells(cells) => cells[column].clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected: Vec<_> = (0..25).map(|n| format!("00{n}")).collect();
    assert_eq!(codes, expected);
    let one = Source::open(&path, sheet(Some("delegates 3"))).unwrap();
    assert_eq!(one.rows().unwrap().count(), 5);
}

#[test]
fn a_text_that_no_cell_holds_is_cut_told_and_not_taken_back() {
    let long = json!({"barcode": "A", "data": {"Data": {"notes": "x".repeat(40_000)}}});
    let (folder, store) = store_of(&[long, json!({"barcode": "B"})]);
    let path = folder.path().join("a.xlsx");
    let mut file = std::fs::File::create(&path).unwrap();
    let counts = export(&store, Which::All)
        .write(Format::Xlsx, &mut file)
        .unwrap();
    assert_eq!(counts, Counts { rows: 2, cut: 1 });
    let source = Source::open(&path, Reading::default()).unwrap();
    let rows: Vec<_> = source.rows().unwrap().map(Result::unwrap).collect();
    assert!(
        matches!(&rows[0].content, Content::BadCell(_, why, _) if why.contains("was cut")),
        "{rows:?}"
    );
    assert!(matches!(&rows[1].content, Content::Cells(_)));
    let told = Source::open(&path, sheet(Some("Cut"))).unwrap();
    assert_eq!(told.header().unwrap(), [counts.warning().unwrap()]);
}
