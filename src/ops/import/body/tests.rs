use super::{super::Mapping, *};

#[test]
fn a_row_becomes_a_body() {
    let headers = ["Barcode", "Email", "Diet", "x", "Badge.n (json)"].map(str::to_owned);
    let mapping = Mapping::parse("x=data.S.k").unwrap();
    let columns = Columns::new(What::Delegates, &headers, &[mapping], None).unwrap();
    let body = |cells: &[&str]| {
        let cells: Vec<_> = cells.iter().map(ToString::to_string).collect();
        let row = Row::new(2, Content::Cells(cells));
        columns
            .planned(row)
            .map(|planned| Value::Object(planned.body))
    };
    let expected = serde_json::json!({
        "barcode": "A1",
        "data": {"Data": {"Diet": "vegan"}, "S": {"k": "=1"}, "Badge": {"n": [1, "a"]}},
    });
    assert_eq!(
        body(&["A1", "", "vegan", "=1", "[1,\"a\"]"]).unwrap(),
        expected
    );
    assert!(body(&["A1", "", "", "", "{"]).is_err());
    assert!(body(&["A1", "", "", "", "", "more"]).is_err());
}

#[test]
fn values_are_set_where_a_row_has_none() {
    let headers = ["Barcode", "Company", "Menu.Diet"].map(str::to_owned);
    let mut columns = Columns::new(What::Delegates, &headers, &[], None).unwrap();
    for (target, value) in [("company", "Works"), ("data.Menu.Diet", "vegan")] {
        let target = Target::parse(What::Delegates, target).unwrap();
        columns
            .set
            .push((Column::new("--set", target), value.to_owned()));
    }
    for (cells, company, diet) in [
        (["A", "", ""], "Works", "vegan"),
        (["A", "Own", ""], "Own", "vegan"),
        (["A", "", "none"], "Works", "none"),
    ] {
        let cells = cells.map(str::to_owned).to_vec();
        let planned = columns.planned(Row::new(2, Content::Cells(cells))).unwrap();
        let body = serde_json::json!({
            "barcode": "A", "company": company, "data": {"Menu": {"Diet": diet}},
        });
        assert_eq!(Value::Object(planned.body), body);
    }
}
