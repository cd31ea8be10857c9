use super::{super::warnings::doubtful, *};

fn columns(what: What, headers: &[&str], mappings: &[&str]) -> Result<Vec<Option<String>>> {
    let headers: Vec<_> = headers.iter().map(ToString::to_string).collect();
    let mappings: Vec<_> = mappings
        .iter()
        .map(|mapping| Mapping::parse(mapping).unwrap())
        .collect();
    let columns = Columns::new(what, &headers, &mappings, None)?;
    Ok(columns.iter().map(|column| column.target.name()).collect())
}

#[test]
fn headers_are_matched_however_they_are_written() {
    for (header, name) in [
        ("E-mail", "email"),
        ("EMAIL ADDRESS", "email"),
        ("First name", "firstName"),
        ("first_name", "firstName"),
        ("Vorname", "firstName"),
        ("Prénom", "firstName"),
        ("PRE\u{301}NOM", "firstName"),
        ("Nombre", "firstName"),
        ("Fornavn", "firstName"),
        ("Surname", "lastName"),
        ("Apellidos", "lastName"),
        ("Efternavn", "lastName"),
        ("Nachname", "lastName"),
        ("Nom", "lastName"),
        ("Company", "company"),
        ("Société", "company"),
        ("Organisation", "company"),
        ("Job title", "jobTitle"),
        ("Mobile", "phone"),
        ("Téléphone", "phone"),
        ("Ticket code", "barcode"),
        ("Ticket type", "delegateType"),
        ("External ID", "externalId"),
        ("UHF-ID", "uhfId"),
        ("raw flags", "rawFlags"),
        ("Diet", "data.Data.Diet"),
        ("ID", "data.Data.ID"),
        ("id", "data.Data.id"),
        ("data.Badge.colour", "data.Badge.colour"),
        ("Badge.colour", "data.Badge.colour"),
        ("Order no.", "data.Data.Order no."),
        ("Dr. med", "data.Data.Dr. med"),
        ("data.x", "data.Data.data.x"),
    ] {
        let found = columns(What::Delegates, &[header, "slug"], &[]).unwrap();
        assert_eq!(found[0].as_deref(), Some(name), "{header}");
    }
}

#[test]
fn a_name_is_the_last_where_nothing_else_is() {
    let name = |headers: &[&str], mappings: &[&str]| {
        let found = columns(What::Delegates, headers, mappings).unwrap();
        found[0].clone()
    };
    let data = Some("data.Data.Name".to_owned());
    let last = Some("lastName".to_owned());
    let split = Some("name".to_owned());
    assert_eq!(name(&["Name", "Vorname"], &[]), last);
    assert_eq!(name(&["NAME", "First name", "slug"], &[]), last);
    assert_eq!(name(&["Name", "Rufname", "Nachname"], &[]), data);
    assert_eq!(name(&["Name", "Barcode"], &[]), split);
    assert_eq!(name(&["Attendee name", "Barcode"], &[]), split);
    assert_eq!(name(&["Full name", "Name"], &[]), split);
    let whole = Some("data.Data.Full name".to_owned());
    assert_eq!(name(&["Full name", "Vorname"], &[]), whole);
    assert_eq!(name(&["Full name", "Vorname", "Name"], &[]), whole);
    assert_eq!(
        name(&["Name", "Vorname"], &["Name=company"]),
        Some("company".into())
    );
    let devices = columns(What::Devices, &["Name", "code"], &[]).unwrap();
    assert_eq!(devices[0].as_deref(), Some("name"));
}

#[test]
fn a_list_of_data_alone_goes_in_where_somebody_says_so() {
    let headers = ["Foo", "Bar"];
    assert!(columns(What::Delegates, &headers, &[]).is_err());
    let found = columns(What::Delegates, &headers, &["Foo=Section.key"]).unwrap();
    let expected = [Some("data.Section.key"), Some("data.Data.Bar")];
    assert_eq!(
        found.iter().map(Option::as_deref).collect::<Vec<_>>(),
        expected
    );
    assert!(columns(What::Delegates, &headers, &["Foo="]).is_err());
}

#[test]
fn a_shops_list_has_the_buyer_beside_the_guest() {
    let headers = [
        "Order code",
        "Email",
        "Attendee name",
        "Attendee name: Given name",
        "Attendee name: Family name",
        "Attendee email",
        "Ticket secret",
    ];
    let found = columns(What::Delegates, &headers, &[]).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|one| one.as_deref().unwrap_or_default())
        .collect();
    let expected = [
        "data.Data.Order code",
        "data.Data.Email",
        "data.Data.Attendee name",
        "firstName",
        "lastName",
        "email",
        "barcode",
    ];
    assert_eq!(found, expected);
    // However it calls the guest; what else it knows of them is no property.
    for (mail, guest) in [
        (
            "E-Mail",
            [
                "Teilnehmername: Vorname",
                "Teilnehmername: Nachname",
                "Teilnehmer-E-Mail",
            ],
        ),
        (
            "E-Mail",
            [
                "Vorname des Teilnehmers",
                "Nachname des Teilnehmers",
                "E-Mail-Adresse des Teilnehmers",
            ],
        ),
        (
            "Courriel",
            [
                "Prénom du participant",
                "Nom du participant",
                "Adresse e-mail du participant",
            ],
        ),
        (
            "Correo",
            [
                "Nombre del asistente",
                "Apellidos del asistente",
                "Correo electrónico del asistente",
            ],
        ),
        (
            "Mail",
            ["Deltager fornavn", "Deltager efternavn", "Deltager e-mail"],
        ),
        (
            "Buyer email",
            ["Guest first name", "Guest last name", "Guest email"],
        ),
    ] {
        let headers = [mail, guest[0], guest[1], guest[2], "Attendee ID"];
        let found = columns(What::Delegates, &headers, &[]).unwrap();
        let told = |at: usize| found[at].as_deref().unwrap_or_default();
        assert_eq!(
            ["firstName", "lastName", "email"],
            [told(1), told(2), told(3)]
        );
        assert_eq!(told(0), format!("data.Data.{mail}"));
        assert_eq!(told(4), "data.Data.Attendee ID");
    }
}

#[test]
fn devices_and_interactions_have_headers_of_their_own() {
    for (what, header, name) in [
        (What::Devices, "Bezeichnung", "name"),
        (What::Devices, "Start", "startAt"),
        (What::Delegates, "Type", "delegateType"),
        (What::Devices, "Type", "deviceType"),
        (What::Devices, "parent", "parent"),
        (What::Interactions, "Type", "interactionType"),
        (What::Interactions, "Delegate barcode", "firstDelegate"),
        (What::Interactions, "Scanned at", "recordedAt"),
        (What::Interactions, "data", "data"),
        (What::Interactions, "Badge colour", "data.Badge colour"),
    ] {
        let found = columns(what, &[header, "second device", "code"], &[])
            .unwrap_or_else(|_| columns(what, &[header, "code"], &[]).unwrap());
        assert_eq!(found[0].as_deref(), Some(name), "{header}");
    }
}

#[test]
fn a_file_of_ours_means_names_exactly() {
    let found = columns(
        What::Delegates,
        &[
            "id",
            "_type",
            "createdAt",
            "Email",
            "email",
            "data",
            "Data.n (json)",
            "sources",
        ],
        &[],
    )
    .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|name| name.as_deref().unwrap_or("-"))
        .collect();
    assert_eq!(
        found,
        [
            "-",
            "-",
            "-",
            "data.Data.Email",
            "email",
            "data",
            "data.Data.n",
            "-"
        ]
    );
}

#[test]
fn a_mapping_goes_before_a_name_and_a_name_before_a_synonym() {
    for (headers, mappings, expected) in [
        (["Mobile", "Phone"], vec![], ["data.Data.Mobile", "phone"]),
        (
            ["Telephone", "Mobile"],
            vec![],
            ["phone", "data.Data.Mobile"],
        ),
        (
            ["Phone", "Mobile"],
            vec!["mobile=phone"],
            ["data.Data.Phone", "phone"],
        ),
        (
            ["Barcode", "a=b"],
            vec!["a=b=data.X.y"],
            ["barcode", "data.X.y"],
        ),
        (["code", "§"], vec!["§=slug"], ["code", "slug"]),
    ] {
        let found = columns(What::Delegates, &headers, &mappings).unwrap();
        let found: Vec<_> = found.into_iter().flatten().collect();
        assert_eq!(found, expected, "{headers:?} {mappings:?}");
    }
    assert_eq!(
        columns(What::Delegates, &["code", "", "x"], &["X="]).unwrap(),
        [Some("code".to_owned()), None, None]
    );
}

#[test]
fn columns_that_cannot_be_told_apart_are_refused() {
    for (headers, mappings, told) in [
        (["code", "code"], vec![], "stands twice"),
        (["code", "a\0"], vec![], "NUL"),
        (["code", "x"], vec!["y=slug"], "there is no column \"y\""),
        (["code", "x"], vec!["x=slug", "X=rfid"], "mapped twice"),
        (["code", "x"], vec!["x=barcod"], "barcod"),
        (["a", "b"], vec!["a=slug", "b=slug"], "are both slug"),
        (["a", "b"], vec![], "no column is known"),
    ] {
        let refused = columns(What::Delegates, &headers, &mappings)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn headers_are_matched_by_their_words() {
    for (header, name) in [
        ("Nachname/Familienname", "lastName"),
        ("Last name / Surname", "lastName"),
        ("Vorname - First name", "firstName"),
        ("Mail Adresse (privat)", "email"),
        ("E-Mail privat", "email"),
        ("Ihre E-Mail-Adresse *", "email"),
        ("Your work e-mail", "email"),
        ("Telefon (mobil)", "phone"),
        ("Mobile phone number [optional]", "phone"),
        ("Firma / Organisation", "company"),
        ("Name (Firma)", "company"),
        ("Name (as on badge)", "name"),
        ("Imię", "firstName"),
        ("Nazwisko", "lastName"),
        ("Příjmení", "lastName"),
        ("Ticket code (QR)", "barcode"),
        // Whatever may be something else stays what it was.
        ("Nachname, Vorname", "data.Data.Nachname, Vorname"),
        ("First & last name", "data.Data.First & last name"),
        ("Telefon/Fax", "data.Data.Telefon/Fax"),
        ("Email opt-in", "data.Data.Email opt-in"),
        ("Company size", "data.Data.Company size"),
        ("E-Mail (Besteller)", "data.Data.E-Mail (Besteller)"),
        ("Buyer e-mail", "data.Data.Buyer e-mail"),
        ("()", "data.Data.()"),
        ("(", "data.Data.("),
    ] {
        let found = columns(What::Delegates, &[header, "slug"], &[]).unwrap();
        assert_eq!(found[0].as_deref(), Some(name), "{header}");
    }
    let devices = columns(What::Devices, &["Titel / Title", "Beginn (Uhrzeit)"], &[]).unwrap();
    assert_eq!(
        devices,
        [Some("name".to_owned()), Some("startAt".to_owned())]
    );
    // What is sure comes first, wherever it stands.
    let found = columns(What::Delegates, &["E-Mail (privat)", "E-Mail"], &[]).unwrap();
    assert_eq!(found[1].as_deref(), Some("email"));
    assert_eq!(found[0].as_deref(), Some("data.Data.E-Mail (privat)"));
}

#[test]
fn a_column_that_resembles_a_property_is_told() {
    let doubts = |headers: &[&str]| {
        let headers: Vec<_> = headers.iter().map(ToString::to_string).collect();
        let columns = Columns::new(What::Delegates, &headers, &[], None).unwrap();
        doubtful(&columns)
    };
    let doubt = |header: &str, name: &str, taken_by: Option<&str>| {
        let why = match taken_by {
            Some(taken_by) => format!("\"{taken_by}\" is the {name} already"),
            None => format!("if it is the {name}, map it to that"),
        };
        format!("the column \"{header}\" goes into other data; {why}")
    };
    assert_eq!(
        doubts(&[
            "slug",
            "First & last name",
            "Email opt-in",
            "Invoice e-mail"
        ]),
        [
            doubt("First & last name", "lastName", None),
            doubt("Email opt-in", "email", None),
            doubt("Invoice e-mail", "email", None),
        ]
    );
    assert_eq!(
        doubts(&[
            "Company",
            "Company email",
            "Last name",
            "Surname",
            "Barcode",
            "Ticket code"
        ]),
        [
            doubt("Company email", "email", None),
            doubt("Surname", "lastName", Some("Last name")),
            doubt("Ticket code", "barcode", Some("Barcode")),
        ]
    );
    assert_eq!(
        doubts(&["slug", "Company email"]),
        [doubt("Company email", "email", None)]
    );
    assert!(doubts(&["Email", "Email opt-in", "Diet", "Nachname", "Name of hotel"]).is_empty());
    assert!(doubts(&["_type", "slug", "data.Data.Email opt-in"]).is_empty());
}
