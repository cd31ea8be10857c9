//! The catalogue of the tables: which columns are personal and whose, whether a rehearsal sets rows back, which
//! views of reports read them, which columns hold JSON. Erasure, the end of a rehearsal, reports and `check` go
//! by it. A test compares it with `schema.sql`.

use Content::{
    Address, Attendee, AttendeeWhere, Attendees, ByFeature, Personal, Plain, Quotes, Record,
    Reference, User,
};
use Text::{Answers, Data, RowData, Whole};

/// The content of a column, as erasure sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nothing of an attendee.
    Plain,
    /// The id of the attendee whose record the row is.
    Record,
    /// The id of an attendee: the row goes with them.
    Attendee,
    /// As [`Content::Attendee`], for rows with this condition.
    AttendeeWhere(&'static str),
    /// A JSON list of ids of attendees: the row goes with any of them.
    Attendees,
    /// An address: the row goes with the attendee who has it, where its `delegate_id` names nobody.
    Address,
    /// The id of an attendee: emptied when they go.
    Reference,
    /// Something of the person that another column finds: it goes with the row.
    Personal,
    /// Something of a person that a function of the feature finds and takes out, or blanks.
    ByFeature,
    /// A document of others that may quote a person: the quotes are blanked.
    Quotes(Text),
    /// The id of a user: the row goes with them, by the foreign key.
    User,
}

/// The part of a document in which others may quote a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Whole,
    /// Its `data`: the rest is the record itself, such as another's address.
    Data,
    /// The `data` of a record as its row has it: JSON within a text.
    RowData,
    /// As [`Text::Data`], of the record in each answer.
    Answers,
}

/// The fate of a table's rows at the end of a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rehearsal {
    /// Become those of the snapshot.
    SetBack,
    /// Come back or go, but none is changed.
    SetBackWhole,
    /// Stay as they are.
    Kept,
}

/// The fate of a table's rows when attendees are made anonymous; rows of a condition, `:until` being the moment up to
/// which they are: of what came later nothing goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    /// It says nothing of attendees but who they are by id, or `domain::erasure::anonymous` does it by hand.
    Kept,
    /// The rows go.
    Gone(&'static str),
    /// Columns are set.
    Blank {
        set: &'static str,
        rows: &'static str,
    },
}

/// A table of the file.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    pub name: &'static str,
    /// Names of columns, separated by spaces, by what they are.
    columns: &'static [(Content, &'static str)],
    pub rehearsal: Rehearsal,
    /// Rows that a rehearsal neither changes nor brings back: a condition.
    pub but: &'static str,
    /// Rows of the snapshot, `s`, that do not come back: a condition. Rows of people who were erased never do.
    pub without: &'static str,
    /// The views of reports that read it, its own first; none: reports do not see it.
    pub views: &'static [&'static str],
    /// Columns of JSON that `check` reads.
    json: &'static str,
    /// The columns that documents of others are read by; one of them twice where it is enough.
    pub key: [&'static str; 2],
    pub anonymous: Anonymous,
}

impl Table {
    /// Every column with what it is.
    pub fn columns(&self) -> impl Iterator<Item = (Content, &'static str)> {
        let columns = self.columns.iter();
        columns.flat_map(|(is, names)| names.split(' ').map(|name| (*is, name)))
    }

    pub fn json(&self) -> impl Iterator<Item = &'static str> {
        self.json.split_terminator(' ')
    }

    const fn but(mut self, rows: &'static str) -> Self {
        self.but = rows;
        self
    }

    const fn without(mut self, rows: &'static str) -> Self {
        self.without = rows;
        self
    }

    const fn seen(mut self, views: &'static [&'static str]) -> Self {
        self.views = views;
        self
    }

    const fn with_json(mut self, columns: &'static str) -> Self {
        self.json = columns;
        self
    }

    const fn by(mut self, first: &'static str, second: &'static str) -> Self {
        self.key = [first, second];
        self
    }

    const fn goes(mut self, rows: &'static str) -> Self {
        self.anonymous = Anonymous::Gone(rows);
        self
    }

    const fn blank(mut self, set: &'static str, rows: &'static str) -> Self {
        self.anonymous = Anonymous::Blank { set, rows };
        self
    }
}

type Columns = &'static [(Content, &'static str)];

const fn table(name: &'static str, rehearsal: Rehearsal, columns: Columns) -> Table {
    Table {
        name,
        columns,
        rehearsal,
        but: "FALSE",
        without: "FALSE",
        views: &[],
        json: "",
        key: ["id", "id"],
        anonymous: Anonymous::Kept,
    }
}

const fn set_back(name: &'static str, columns: Columns) -> Table {
    table(name, Rehearsal::SetBack, columns)
}

const fn set_back_whole(name: &'static str, columns: Columns) -> Table {
    table(name, Rehearsal::SetBackWhole, columns)
}

const fn kept(name: &'static str, columns: Columns) -> Table {
    table(name, Rehearsal::Kept, columns)
}

/// Finds a table.
#[must_use]
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

/// The tables that a rehearsal sets back, parents before children.
pub fn restored() -> impl DoubleEndedIterator<Item = &'static Table> {
    let tables = TABLES.iter();
    tables.filter(|table| table.rehearsal != Rehearsal::Kept)
}

/// Every table, in the order of `schema.sql`: parents before children.
#[rustfmt::skip]
pub static TABLES: &[Table] = &[
    set_back("settings", &[(Plain, "name value")]).with_json("value").but("name = 'backups'"),
    kept("counters", &[(Plain, "name value")]),
    kept("keys", &[(Plain, "name key")]),
    kept("standby", &[(Plain, "id epoch superseded_by restored replica host public_url")]),
    kept("head_office", &[(Plain, "id venue name hubs secret ca joined_at")]).with_json("hubs"),
    set_back("office_feed", &[(Plain, "id cursor round is_snapshot configuration kept")]).with_json("configuration kept"),
    set_back("office_records", &[
        (ByFeature, "applied kept"), (Plain, "type office_id local_id round"),
    ]).with_json("applied kept")
        // The row stays, so that the head office's copy does not come again.
        .blank("applied = '{}', kept = '{\"anonymous\":true}'", "type <> 'device' AND applied <> '{}'
            AND local_id IN (SELECT id FROM delegates WHERE created_at < :until)"),
    set_back("logo", &[(Plain, "id content_type content updated_at")]),

    set_back("delegates", &[
        (Record, "id"), (Reference, "parent_id previous_id owner_id"), (Quotes(Whole), "data"),
        (Personal, "barcode rfid external_id public_id code uhf_id slug first_name last_name email phone job_title company delegate_type raw_flags"),
        (Plain, "sources created_at updated_at deleted_at"),
    ]).with_json("sources data").seen(&["delegates"]).blank(
        "barcode = NULL, rfid = NULL, external_id = NULL, code = NULL, uhf_id = NULL, slug = NULL, first_name = NULL,
         last_name = NULL, email = NULL, phone = NULL, job_title = NULL, company = NULL, raw_flags = NULL, data = NULL,
         public_id = 'anonymous-' || id",
        "created_at < :until AND (public_id <> 'anonymous-' || id OR coalesce(barcode, rfid, external_id, code, uhf_id, slug,
         first_name, last_name, email, phone, job_title, company, raw_flags, data) IS NOT NULL)",
    ),
    // Both follow from the record: `search_index::settle`.
    kept("delegates_search", &[(ByFeature, "first_name last_name email phone job_title company barcode external_id")]),
    kept("delegates_search_pending", &[
        (ByFeature, "first_name last_name email phone job_title company barcode external_id"), (Plain, "id is_indexed"),
    ]),
    set_back("blocked_codes", &[(Attendee, "delegate_id"), (Personal, "value reason"), (Plain, "id kind actor at")])
        .goes("at < :until"),
    set_back("distinct_delegates", &[(Attendee, "one_id other_id"), (Plain, "actor at")]),
    set_back("gate_notes", &[(Attendee, "delegate_id"), (Personal, "note"), (Plain, "level actor updated_at")])
        .goes("updated_at < :until"),
    set_back("statements", &[(Plain, "name record_type label sql")]),

    // Devices of apps that were connected in the rehearsal stay, so that no phone has to connect again. `check` reads
    // `data` apart: SQLite takes any text there.
    set_back("devices", &[
        (Quotes(Whole), "data"),
        (Plain, "id parent_id code public_id external_id rfid slug name short_name description device_type device_tags category manager_email"),
        (Plain, "manager_phone start_at end_at available sources created_at updated_at deleted_at"),
    ]).with_json("sources").but("id IN (SELECT id FROM temp.connected)")
        .seen(&["devices", "events", "doors", "interactions", "presence", "stays"]),
    set_back("everybody_out", &[(Plain, "device_id since handled_to zone")]),
    set_back("occupancy", &[(Plain, "device_id inside")]),
    kept("closed_by_upgrade", &[(Plain, "device_id")]),

    set_back_whole("interactions", &[
        (Attendee, "first_delegate_id second_delegate_id third_delegate_id"), (Quotes(Whole), "data"),
        (Plain, "id interaction_type first_device_id second_device_id third_device_id shared recorded_at created_at client_id user_id"),
        (Plain, "admitted moment order_at effect"),
    ]).with_json("data shared").seen(&["interactions", "presence", "stays"])
        // Those of everybody at once say so, and stays go by it.
        .blank("data = NULL, shared = NULL", "created_at < :until AND coalesce(data, shared) IS NOT NULL
            AND data IS NOT '{\"reason\":\"everybodyOutAt\"}'"),
    // An app that sends a scan of the rehearsal once more learns that it is known: nonces stay, and answers without content.
    kept("nonces", &[(ByFeature, "nonce"), (Plain, "client_id fingerprint interaction_id")]),
    // What is missing here was of somebody who is gone, if only by a code that was theirs. A scan that waited for its
    // code may also have been recorded since: then its nonce is still there.
    set_back_whole("refusals", &[
        (Attendee, "delegate_id"), (ByFeature, "delegate message nonce data"),
        (Plain, "id at interaction_type device device_id recorded_at client_id user_id code admitted"),
    ]).with_json("data").seen(&["refusals"]).without("NOT (s.admitted AND EXISTS (
        SELECT 1 FROM main.nonces AS n WHERE n.client_id = s.client_id AND n.nonce = s.nonce))")
        .blank("delegate = NULL, message = '', nonce = NULL, data = NULL",
            "at < :until AND (message <> '' OR coalesce(delegate, nonce, data) IS NOT NULL)"),
    // They go with their interaction.
    set_back_whole("conflicts", &[(ByFeature, "message"), (Plain, "id at interaction_id code")])
        .seen(&["conflicts"]).without("s.interaction_id NOT IN (SELECT id FROM main.interactions)")
        .blank("message = ''", "at < :until AND message <> ''"),
    set_back("unknown_tags", &[(ByFeature, "epc"), (Plain, "first_at last_at reads reader_id antenna place_id rssi")])
        .goes("last_at < :until"),
    set_back_whole("shared_values", &[(Quotes(Whole), "value"), (Plain, "id digest")]).with_json("value")
        .goes("id NOT IN (SELECT s.value ->> 1 FROM interactions AS i, json_each(i.shared) AS s WHERE i.shared IS NOT NULL)"),
    set_back("evacuations", &[(Plain, "id device_id started_at actor ended_at")]),
    set_back("evacuation_safe", &[(Attendee, "delegate_id"), (Plain, "evacuation_id at actor")]),
    set_back("evacuation_inside", &[(Attendee, "delegate_id"), (Plain, "evacuation_id device_id since")]),

    // Entries about the person go, too: `changes::empty`.
    kept("audit", &[
        (Quotes(Data), "before after"), (Plain, "id at actor request_id action record_type record_id interaction_id"),
    ]).with_json("before after").blank("before = NULL, after = NULL", "(at < :until OR record_type = 'delegate'
        AND record_id IN (SELECT id FROM delegates WHERE created_at < :until)) AND coalesce(before, after) IS NOT NULL
        AND record_type IN ('delegate', 'interaction', 'transaction', 'message', 'evacuation')"),
    kept("changes", &[(Plain, "id at interaction_id action record_type record_id")]),
    kept("erasures", &[(Plain, "record_type record_id salt hash at wiped_at")]),
    kept("erased_nonces", &[(Plain, "client_id hash fingerprint")]),

    // Who may come in stays as it is: a client that was revoked stays revoked, and nobody is signed out.
    kept("clients", &[
        (Plain, "id client_id secret_hash name roles scopes device_id visible_properties created_at revoked_at"),
    ]).with_json("roles scopes visible_properties"),
    kept("users", &[
        (Reference, "delegate_id"), (ByFeature, "email password_hash"), (Plain, "id roles created_at updated_at console_role language"),
    ]).with_json("roles"),
    kept("tokens", &[
        (User, "user_id"), (Plain, "id hash kind client_id family scopes issued_at expires_at used_at revoked_at"),
    ]).with_json("scopes"),
    kept("second_factors", &[(User, "user_id"), (Personal, "secret recovery"), (Plain, "used_step created_at")]).with_json("recovery"),
    kept("one_time_passwords", &[(ByFeature, "address code_hash"), (Plain, "tries expires_at")]),
    kept("console_sessions", &[(User, "user_id"), (Personal, "address agent"), (Plain, "id hash created_at seen_at expires_at")]),
    kept("console_views", &[(User, "user_id"), (Personal, "name query"), (Plain, "id")]),
    kept("wall_link", &[(Plain, "id hash made_at actor")]),

    // Less those of what the rehearsal made: `idempotency::forget_rehearsed`.
    kept("idempotency_keys", &[(ByFeature, "key"), (Plain, "id client_id operation fingerprint created_at")])
        .goes("created_at < :until"),
    kept("idempotency_parts", &[(Quotes(Answers), "body"), (Plain, "key_id part done status")]).by("key_id", "part"),
    kept("tls_certificate", &[
        (Plain, "id certificate private_key names created_at expires_at ca ca_key ca_names ca_expires_at"),
    ]).with_json("names ca_names"),

    kept("device_requests", &[
        (Plain, "id code secret_hash preferred_type agent address created_at updated_at cleared_at cleared_status device_id client_id"),
        (Plain, "shown_until salt"),
    ]),
    kept("device_states", &[
        (Plain, "device_id seen_at pinged_at ping clock_skew_ms config_version confirmed_at local_settings"),
    ]).with_json("ping local_settings").seen(&["device_states"]),
    kept("device_pings", &[(Plain, "device_id at ping clock_skew_ms")]).with_json("ping").seen(&["device_pings"]),
    // Apps would not notice a version that goes back: the snapshot's is published anew.
    kept("app_config", &[(Plain, "version document actor published_at")]).with_json("document"),
    set_back("app_config_draft", &[(Plain, "id document actor updated_at")]).with_json("document"),

    set_back("batches", &[
        (Plain, "id kind device_id file_name file_sha256 options total done actor created_at finished_at undone_at"),
    ]).with_json("options"),
    set_back("batch_rows", &[
        (AttendeeWhere("batch_id IN (SELECT id FROM batches WHERE kind = 'delegates')"), "record_id"), (Quotes(RowData), "before"),
        (Plain, "batch_id line audit_id interaction_id unlinked change_id"),
    ]).with_json("before").by("batch_id", "line").blank("before = NULL", "before IS NOT NULL
        AND batch_id IN (SELECT id FROM batches WHERE kind <> 'devices' AND created_at < :until)"),
    set_back("batch_refusals", &[(Attendee, "delegate_id"), (Personal, "reason"), (Plain, "batch_id line")])
        .goes("batch_id IN (SELECT id FROM batches WHERE created_at < :until)"),
    kept("backups", &[(Plain, "id kind path started_at finished_at bytes failure checked_at check_failure")]),

    // A message that was sent since must not wait again, and one that waited then was decided about since.
    set_back_whole("messages", &[
        (Attendee, "delegate_id"), (Address, "address"), (Personal, "subject body html failure"),
        (Plain, "id channel template state created_at sent_at secret origin attempts tried_at opened_at"),
    ]).without("s.state IN ('waiting', 'sending')").goes("created_at < :until
        OR delegate_id IN (SELECT id FROM delegates WHERE created_at < :until)"),
    set_back("message_templates", &[(Plain, "id channel slug subject content html created_at updated_at")]),
    // How messages leave is of the place, not of what was tried.
    kept("gateways", &[(Plain, "channel definition secret updated_at")]).with_json("definition"),
    set_back("automations", &[
        (Plain, "id name active interaction_type device_id delegate_type channel template within_minutes since"),
    ]),
    kept("webhooks", &[
        (Plain, "id uid name secret previous_secret previous_until created_at updated_at definition"),
    ]).with_json("definition"),
    kept("webhook_attempts", &[
        (Attendees, "people"), (Personal, "answer"),
        (Plain, "id webhook_id source source_id type ordering_key at took_ms outcome status"),
    ]).with_json("people").goes("at < :until AND people <> '[]'"),
    kept("outbox_destinations", &[
        (Plain, "name interaction_id audit_id failures failing_since why next_at last_success_at paused_at paused_why revision"),
    ]),
    kept("outbox", &[(Plain, "id destination source source_id ordering_key attempts next_at expires_at failing_since why")]),

    set_back("badge_layouts", &[(Plain, "name layout")]).with_json("layout"),
    set_back("badge_fonts", &[(Plain, "name content")]),
    // Printers are of the place, and what they printed stays printed.
    kept("printers", &[(Plain, "id name definition")]).with_json("definition"),
    kept("print_jobs", &[
        (Attendee, "delegate_id"), (Personal, "reason"),
        (Plain, "id printer_id device_id trigger_id actor state why interaction_id created_at ended_at"),
    ]).blank("reason = NULL", "created_at < :until AND reason IS NOT NULL"),

    // Tickets that were signed in a rehearsal are in people's hands. A serial says nothing of a person without their code.
    kept("ticket_keys", &[(Plain, "kid seed public_key first_day created_at retired_at")]),
    kept("ticket_serials", &[(Plain, "serial delegate_id")])
        .blank("delegate_id = 0", "delegate_id IN (SELECT id FROM delegates WHERE created_at < :until)"),

    // What a purchase said of somebody who was erased is blanked here, and stands in the snapshot as it was.
    set_back("transactions", &[
        (ByFeature, "notes recorded_by"),
        (Plain, "id code context_id total_amount bought_at client_id user_id created_at updated_at erased_at"),
    ]).seen(&["transactions"]).without("s.id IN (SELECT id FROM main.transactions WHERE erased_at IS NOT NULL)"),
    set_back("transaction_bodies", &[
        (ByFeature, "body"), (Plain, "id transaction_id digest client_id user_id received_at tickets loaded"),
    ]).without(BLANKED_PURCHASES),
    set_back("transaction_payments", &[(ByFeature, "method reference"), (Plain, "transaction_id line amount change net")])
        .seen(&["transaction_payments"]).without(BLANKED_PURCHASES),
    set_back("transaction_items", &[
        (ByFeature, "description"), (Plain, "transaction_id line code product_id quantity unit_amount total_amount discount_amount"),
    ]).seen(&["transaction_items"]).without(BLANKED_PURCHASES),
    set_back("transaction_delegates", &[(Attendee, "delegate_id"), (Personal, "barcode"), (Plain, "transaction_id product_id")])
        .seen(&["transaction_delegates"]).blank("barcode = 'anonymous-' || lower(hex(randomblob(8)))",
            "barcode NOT GLOB 'anonymous-*' AND transaction_id IN (SELECT id FROM transactions WHERE created_at < :until)"),
    kept("erased_tickets", &[(Plain, "transaction_id hash")]),
    set_back("inconsistencies", &[(ByFeature, "message note"), (Plain, "id body_id path settled_at settled_by")])
        .blank("message = '', note = NULL", "(message <> '' OR note IS NOT NULL) AND body_id IN (
            SELECT id FROM transaction_bodies WHERE received_at < :until)")
        .without("s.body_id IN (SELECT b.id FROM main.transaction_bodies AS b
            JOIN main.transactions AS t ON t.id = b.transaction_id WHERE t.erased_at IS NOT NULL)"),

    set_back("sections", &[(Plain, "record_type name schema checked")]).with_json("schema"),
    set_back("regions", &[
        (Plain, "path version content tags refs published_from published_to created_at updated_at"),
    ]).with_json("tags refs"),
    set_back("region_versions", &[
        (Plain, "path version content tags refs published_from published_to actor at"),
    ]).with_json("tags refs"),
    set_back("reports", &[
        (Plain, "number dashboard id label query parameters fixed api_clients built"),
    ]).with_json("parameters fixed api_clients built"),

    // What venues say of people goes when they say so: `hub::ingest`.
    kept("hub_venues", &[
        (Plain, "id name event configured secret_hash file epoch version cursor begun sequence current coming previous clock_ms"),
        (Plain, "behind behind_ms seen_at created_at revoked_at counted expected arrived inside conflicts"),
    ]).seen(&["hub_venue_list", "hub_attendees", "hub_places", "hub_interactions", "hub_sales", "hub_lost"]),
    kept("hub_codes", &[(Plain, "hash venue expires_at")]),
    // Those of the head office itself follow its own feed.
    kept("hub_records", &[
        (ByFeature, "name code email data"),
        (Plain, "venue generation type id sequence deleted lost kind who place subtype at amount"),
    ]).with_json("data").seen(&["hub_attendees", "hub_places", "hub_interactions", "hub_sales", "hub_lost"])
        .blank("name = NULL, code = NULL, email = NULL, data = NULL", "venue > 0 AND at < :until AND type <> 'device'
            AND coalesce(name, code, email, data) IS NOT NULL"),
    kept("hub_kept", &[(ByFeature, "office value"), (Plain, "venue type id property")]).with_json("office value")
        .goes("type = 'delegate' AND id IN (SELECT id FROM delegates WHERE created_at < :until)"),
    kept("hub_configuration", &[(Plain, "id hash document")]).with_json("document"),
    kept("hub_hubs", &[(Plain, "url seen_at")]),
];

const BLANKED_PURCHASES: &str =
    "s.transaction_id IN (SELECT id FROM main.transactions WHERE erased_at IS NOT NULL)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::migrate;
    use rusqlite::Connection;

    fn file() -> Connection {
        let file = Connection::open_in_memory().unwrap();
        migrate::create(&file).unwrap();
        file
    }

    /// The rows of a statement, each as one text.
    fn texts(file: &Connection, sql: &str) -> Vec<String> {
        let mut statement = file.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }

    fn content(table: &str, column: &str) -> Content {
        let mut columns = find(table).unwrap().columns();
        columns.find(|(_, name)| *name == column).unwrap().0
    }

    #[test]
    fn every_table_and_column_is_named_once() {
        let tables = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
            AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
        let mut there = texts(&file(), &format!(
            "SELECT t.name || ': ' || group_concat(c.name, ' ' ORDER BY c.name)
             FROM ({tables}) AS t JOIN pragma_table_xinfo(t.name) AS c WHERE c.hidden <> 1 GROUP BY t.name"
        ));
        let mut named: Vec<String> = TABLES
            .iter()
            .map(|table| {
                let mut columns: Vec<_> = table.columns().map(|(_, column)| column).collect();
                columns.sort_unstable();
                format!("{}: {}", table.name, columns.join(" "))
            })
            .collect();
        there.sort_unstable();
        named.sort_unstable();
        assert_eq!(
            named, there,
            "every column of schema.sql has its place in TABLES"
        );
        for table in TABLES {
            for column in table.json() {
                let known = table.columns().any(|(_, name)| name == column);
                assert!(known, "{}: {column}", table.name);
            }
        }
    }

    /// Tables that say something of attendees, and to which `domain::erasure::anonymous` does something of its own, or which
    /// end by themselves.
    const BY_HAND: [&str; 14] = [
        "delegates_search",
        "delegates_search_pending",
        "nonces",
        "users",
        "second_factors",
        "one_time_passwords",
        "console_sessions",
        "console_views",
        "idempotency_parts",
        "transactions",
        "transaction_bodies",
        "transaction_payments",
        "transaction_items",
        // Texts of the crew about places.
        "devices",
    ];

    #[test]
    fn what_is_personal_becomes_anonymous() {
        for table in TABLES {
            let says = |content| {
                matches!(
                    content,
                    Content::Personal | Content::Quotes(_) | Content::ByFeature
                )
            };
            let is_personal = table.columns().any(|(content, _)| says(content));
            let is_told = table.anonymous != Anonymous::Kept || BY_HAND.contains(&table.name);
            assert!(is_told || !is_personal, "{}", table.name);
            if let Anonymous::Blank { set, .. } = table.anonymous {
                let kept = ["id", "delegate_type", "key", "method"];
                let mut columns = table.columns().filter(|(content, _)| says(*content));
                assert!(
                    columns.all(|(_, column)| kept.contains(&column)
                        || set.contains(&format!("{column} ="))),
                    "{}",
                    table.name
                );
            }
        }
    }

    #[test]
    fn personal_columns_are_found_somehow() {
        for table in TABLES {
            let finds = |content| {
                matches!(
                    content,
                    Record | Attendee | AttendeeWhere(_) | Attendees | User
                )
            };
            let has = |wanted: &dyn Fn(Content) -> bool| table.columns().any(|one| wanted(one.0));
            let is_found = has(&finds) || !has(&|content| content == Personal);
            assert!(is_found, "{}", table.name);
        }
        let references =
            "SELECT t.name || ' ' || f.\"from\" || ' ' || f.\"table\" || ' ' || f.on_delete
            FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f
            WHERE t.schema = 'main' AND f.\"table\" IN ('delegates', 'users')";
        for reference in texts(&file(), references) {
            let [table, column, of, rule]: [&str; 4] = reference
                .splitn(4, ' ')
                .collect::<Vec<_>>()
                .try_into()
                .unwrap();
            let fits = match (content(table, column), of) {
                (Attendee | Reference, "delegates") => true,
                (User, "users") => rule == "CASCADE",
                _ => false,
            };
            assert!(fits, "{reference}");
        }
    }

    #[test]
    fn parents_stand_before_children() {
        let references = "SELECT t.name || ' ' || f.\"table\"
            FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f
            WHERE t.schema = 'main' AND f.\"table\" <> t.name";
        let at = |name: &str| TABLES.iter().position(|table| table.name == name);
        for reference in texts(&file(), references) {
            let (table, of) = reference.split_once(' ').unwrap();
            if find(table).unwrap().rehearsal != Rehearsal::Kept {
                assert!(at(of) < at(table), "{reference}");
            }
        }
    }

    /// `devices.data` alone is checked apart.
    #[test]
    fn columns_that_sqlite_checks_for_json_are_checked_here() {
        let definitions = "SELECT name || ' ' || sql FROM sqlite_schema WHERE type = 'table'";
        for definition in texts(&file(), definitions) {
            let (table, sql) = definition.split_once(' ').unwrap();
            for column in sql.split("json_valid(").skip(1) {
                let column = column.split(')').next().unwrap();
                let found = find(table).unwrap().json().any(|json| json == column);
                assert!(found, "{table}: {column}");
            }
        }
    }
}
