use super::*;
use crate::{
    core::Context,
    db::{in_transaction, migrate},
    domain::delegates,
    ops::import::{Columns, What, batches::Options, source::Reading},
    types::Timestamp,
};
use rusqlite::Connection;
use std::{io::Write, sync::Arc};

#[test]
fn a_code_that_was_taken_since_the_check_makes_a_bad_row() {
    let connection = Connection::open_in_memory().unwrap();
    migrate::create(&connection).unwrap();
    connection
        .execute_batch(
            "INSERT INTO batches (kind, file_name, file_sha256, options, total, actor, created_at)
             VALUES ('delegates', '', x'', '{}', 3, '', 0)",
        )
        .unwrap();
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(b"code,slug\nA,a\nB,b\nC,c\n").unwrap();
    let source = Source::open(file.path(), Reading::default()).unwrap();
    let ctx = Context::of_command("import", Arc::default());
    let plan = Plan {
        what: What::Delegates,
        columns: Columns::of(What::Delegates, &source, &[]).unwrap(),
        key: None,
        device: None,
        options: Options::default(),
        ctx: ctx.clone(),
    };
    let mut import = Import::new(
        Arc::new(source),
        plan,
        Arc::default(),
        1,
        0,
        Stop::default(),
    )
    .unwrap();
    in_transaction(&connection, Timestamp(0), |tx| {
        let other = Map::from_iter([("slug".to_owned(), "b".into())]);
        write::create(tx, &ctx, &delegates::RESOURCE, other)?;
        import.open(tx)?;
        while import.step(tx)? {}
        import.close(tx)?;
        Ok(())
    })
    .unwrap();
    assert_eq!((import.created, import.done, import.finished), (2, 3, true));
    assert_eq!(
        import.late.listed()[0].to_string(),
        "line 3, column \"slug\": slug: already used by the delegate with id 1"
    );
}
