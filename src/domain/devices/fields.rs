//! The fields of a device: the one declaration that the API, searches, imports, exports and the console follow.

use crate::core::records::Field;

/// Everything a device has.
pub const FIELDS: &[Field] = &[
    Field::id().about("Never changes, never means another device."),
    Field::record_type().about("Always `device`."),
    Field::reference("parent", "parent_id")
        .label("Belongs to")
        .about("For example a session's room, or a room's event; send an id or `{\"id\": …}`."),
    Field::attached("children").about("Devices whose parent this is, at most 1,000."),
    Field::code("code", "code")
        .label("Code")
        .about("Unique code; a UUID made by the server when absent.")
        .help("How gates and apps call it. Made by itself when empty."),
    Field::code("publicId", "public_id")
        .label("Public ID")
        .about("Unique code; a UUID made by the server when absent.")
        .help("Made by itself when empty."),
    Field::code("externalId", "external_id")
        .label("External ID")
        .about("Unique code.")
        .help("Its number in the client's system.")
        .aliases("externeid"),
    Field::code("rfid", "rfid")
        .label("Radio tag (RFID)")
        .about("Unique code."),
    Field::code("slug", "slug")
        .label("Slug")
        .about("Unique code.")
        .help("Its name in addresses."),
    Field::text("name", "name")
        .label("Name")
        .about("What a steward calls it; refusals say it.")
        .help("What stewards call it. Guests who are turned away see it.")
        .aliases(
            "title titel bezeichnung sessionname nom titre nombre titulo navn session sessiontitle talk vortrag \
             sitzung seance sesion sessione sessie programmpunkt titolo naam nome",
        ),
    Field::text("shortName", "short_name")
        .label("Short name")
        .help("For small screens.")
        .aliases("kurzname nomcourt nombrecorto kortnavn"),
    Field::text("description", "description")
        .label("Description")
        .multiline()
        .aliases("beschreibung descripcion beskrivelse"),
    Field::text("deviceType", "device_type")
        .label("Type")
        .about(
            "`event`, `room`, `session`, `door`, `sponsor`, `rfidreader`, `regoapp`, `mobileapp`, \
             `bookable`, or another. A `door` is an entrance of its parent, unless that is an event or a door: \
             what happens there counts at the parent.",
        )
        .aliases("type typ tipo"),
    Field::text("deviceTags", "device_tags")
        .label("Tags")
        .help("Words by which apps and reports pick devices.")
        .aliases("tags"),
    Field::text("category", "category")
        .label("Category")
        .aliases("kategorie categorie categoria kategori"),
    Field::time("startAt", "start_at")
        .label("Starts")
        .aliases(
            "start starttime begin beginn debut inicio starttidspunkt startzeit heuredebut heurededebut horainicio \
             horadeinicio inizio orainizio oradiinizio starttijd begintijd startsat from von",
        ),
    Field::time("endAt", "end_at")
        .label("Ends")
        .aliases(
            "end endtime ende fin slut sluttidspunkt endzeit heurefin heuredefin horafin horadefin fine orafine \
             oradifine eind einde eindtijd endsat to bis until",
        ),
    Field::flag("available", "available")
        .label("In use")
        .about("`true` unless set; a device that is not available refuses check-ins (743).")
        .aliases("verfugbar verfuegbar disponible tilgaengelig"),
    Field::sources()
        .label("Sources")
        .about("Where the record came from."),
    Field::document().label("Data").about(
        "Named sections; a PATCH merges by key (RFC 7396). `Access` holds the rules of \
             entry: `ruleSet` (`open`, `simple`), `entry` (`multiple`, `single`, \
             `daily`), `maxCheckIns`, `per` (`day`), `capacity`, `opensBefore`, `closesAfter` \
             (minutes), `types`, `typeTimes`, `everybodyOutAt`, `everybodyOutExcept`, \
             `oneAtATime`.",
    ),
    Field::stamp("createdAt", "created_at"),
    Field::stamp("updatedAt", "updated_at"),
];

/// The contact of an event.
pub const MANAGER: [Field; 2] = [
    Field::text("eventManagerEmail", "manager_email").label("Manager's e-mail"),
    Field::text("eventManagerPhone", "manager_phone").label("Manager's phone"),
];
