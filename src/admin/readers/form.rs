//! The form of a reader: how it is reached, and which place each antenna watches.

use crate::admin::{
    configuration::{place_choices, places},
    prelude::*,
};
use crate::{
    core::{
        reader::{DEVICE_TYPE, ReaderSetup},
        records::write,
    },
    domain::devices::{self, record::Record},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Antennas of most readers.
const ROWS_LEAST: usize = 4;
/// Rows that are empty, to be filled.
const ROWS_EMPTY: usize = 1;
const ROWS_MAX: usize = 64;
const PROTOCOLS: [(&str, &str); 4] = [
    ("llrp", "LLRP: the server connects to the reader"),
    ("impinj", "Impinj IoT: the reader posts its events"),
    ("zebra", "Zebra IoT Connector: the reader posts its events"),
    ("push", "Something else posts its reads"),
];
const ZONES: [(&str, &str); 4] = [
    ("room", "hears the room"),
    ("door", "hears the doorway"),
    ("inside", "portal, inner side"),
    ("outside", "portal, outer side"),
];

pub(super) fn routes() -> Vec<Route> {
    engine::routes::<Readers>(
        "/console/readers/new",
        "/console/readers/:id/edit",
        OPERATOR,
    )
}

struct Readers;

#[derive(Clone, Serialize)]
struct Draft {
    name: String,
    protocol: String,
    address: String,
    parent: String,
    #[serde(rename = "epcPrefix")]
    epc_prefix: String,
    #[serde(skip)]
    antennas: Vec<Antenna>,
    /// The antennas once more, so that a change of them by somebody else is noticed.
    set_up: String,
}

#[derive(Clone, Default, Serialize)]
struct Antenna {
    /// Its row in the form.
    row: usize,
    number: String,
    place: String,
    zone: String,
    power: String,
}

impl Draft {
    fn new(name: String, address: String) -> Self {
        Self {
            name,
            protocol: "llrp".to_owned(),
            address,
            parent: String::new(),
            epc_prefix: String::new(),
            antennas: Vec::new(),
            set_up: String::new(),
        }
    }

    /// `data.Reader`.
    fn setup(&self) -> Result<Value> {
        if self.name.is_empty() {
            return Err(Error::field("name", "must not be empty"));
        }
        let text = |value: &str| {
            let value = value.trim();
            if value.is_empty() {
                Value::Null
            } else {
                json!(value)
            }
        };
        let antennas = self.antennas.iter().map(|one| {
            let row = one.row;
            let fault = |field, fault| Error::field(format!("{field}{row}"), fault);
            let number: u16 = one.number.trim().parse().map_err(|_| {
                fault(
                    "antenna",
                    "must be the antenna's number at the reader, 1 or more",
                )
            })?;
            let mut antenna = json!({"antenna": number, "zone": one.zone});
            if !one.place.is_empty() {
                antenna["place"] = json!(one.place);
            }
            let power = one.power.trim().replace(',', ".");
            if !power.is_empty() {
                let power: Option<f64> = power.parse().ok().filter(|power: &f64| power.is_finite());
                let power = power.ok_or_else(|| fault("power", "must be a number of dBm"))?;
                antenna["powerDbm"] = json!(power);
            }
            Ok(antenna)
        });
        let setup = json!({
            "protocol": self.protocol, "address": text(&self.address), "epcPrefix": text(&self.epc_prefix),
            "antennas": antennas.collect::<Result<Vec<Value>>>()?,
        });
        // Errors stand beside the field that they name.
        ReaderSetup::parse("reader", &setup).map_err(|cause| self.beside_its_row(cause))?;
        Ok(setup)
    }

    /// Names the field of the form in place of `reader.antennas[1].powerDbm`.
    fn beside_its_row(&self, mut cause: Error) -> Error {
        let named = |path: &String| {
            let (at, field) = path.strip_prefix("reader.antennas[")?.split_once("].")?;
            let row = self.antennas.get(at.parse::<usize>().ok()?)?.row;
            Some(format!(
                "{}{row}",
                field.strip_suffix("Dbm").unwrap_or(field)
            ))
        };
        if let Some(field) = cause.field.first().and_then(named) {
            cause.field[0] = field;
        }
        cause
    }

    fn body(&self, tx: &Tx<'_>) -> Result<Map<String, Value>> {
        let parent = match self.parent.as_str() {
            "" => Value::Null,
            selector => {
                let selector = crate::types::DeviceSelector::parse(selector)?;
                json!(devices::find(tx, &selector)?.0)
            }
        };
        let mut body = Map::new();
        body.insert("name".to_owned(), json!(self.name));
        body.insert("parent".to_owned(), parent);
        body.insert("data".to_owned(), json!({"Reader": self.setup()?}));
        Ok(body)
    }
}

impl Editor for Readers {
    type Key = i64;
    type Draft = Draft;
    type Created = i64;
    const LIST: &'static str = "/console/readers";
    const NOUN: &'static str = "reader";
    const AREA: Area = Area::Readers;

    fn blank(_: &RequestContext) -> Draft {
        Draft::new(String::new(), String::new())
    }

    fn begin(_: &Connection, query: &Fields) -> Result<Option<Draft>> {
        let text = |name: &str| query.text(name).to_owned();
        Ok(Some(Draft::new(text("name"), text("address"))))
    }

    fn find(connection: &Connection, id: &i64) -> Result<Draft> {
        let record = Record::find(connection, *id)?;
        if record.kind() != DEVICE_TYPE || record.deleted_at.is_some() {
            let message = format!("device {id} is not a reader");
            return Err(Error::new(Kind::DeviceNotFound, message));
        }
        let document = record.document();
        let stored = document.get("Reader").cloned().unwrap_or_else(|| json!({}));
        let setup = ReaderSetup::parse("reader", &stored).unwrap_or_default();
        let parent: Option<String> = match record.parent.as_ref().filter(|parent| !parent.deleted) {
            Some(parent) => Some(format!(
                "code:{}",
                Record::find(connection, parent.id)?.text("code")
            )),
            None => None,
        };
        let antennas = setup.antennas.iter().enumerate().map(|(row, one)| Antenna {
            row,
            number: one.antenna.to_string(),
            place: one.place.clone().unwrap_or_default(),
            zone: serde_json::to_value(one.zone)
                .ok()
                .and_then(|zone| zone.as_str().map(ToOwned::to_owned))
                .unwrap_or_default(),
            power: one
                .power_dbm
                .map(|power| power.to_string())
                .unwrap_or_default(),
        });
        Ok(Draft {
            name: record.text("name").to_owned(),
            protocol: setup.protocol.name().to_owned(),
            address: setup.address.clone().unwrap_or_default(),
            parent: parent.unwrap_or_default(),
            epc_prefix: setup.epc_prefix.clone().unwrap_or_default(),
            antennas: antennas.collect(),
            set_up: stored.to_string(),
        })
    }

    fn name(draft: &Draft) -> String {
        draft.name.clone()
    }

    fn groups(connection: &Connection, _: Option<&i64>, draft: &Draft) -> Groups {
        let mut offers = places(connection)?;
        offers.retain(|offer| offer.kind != "product");
        let place = |chosen: &str, none: &str| {
            let chosen: Vec<&str> = Some(chosen)
                .filter(|chosen| !chosen.is_empty())
                .into_iter()
                .collect();
            let mut places = place_choices(&offers, &chosen);
            places.insert(0, Choice::new("", none, chosen.is_empty()));
            places
        };
        let mut groups = engine::filled(vec![Group::new("Reader", reader_inputs())], draft)?;
        groups[0].inputs.push(
            Input::select("parent", "Place", place(&draft.parent, "none"))
                .help("What antennas without a place of their own watch."),
        );
        let blank = Antenna {
            zone: "room".to_owned(),
            ..Antenna::default()
        };
        let used = draft.antennas.iter().map(|one| one.row + 1).max();
        let wanted = (used.unwrap_or_default() + ROWS_EMPTY).clamp(ROWS_LEAST, ROWS_MAX);
        let rows = draft
            .antennas
            .iter()
            .chain(std::iter::repeat(&blank))
            .take(wanted)
            .enumerate();
        let rows = rows.flat_map(|(at, one)| {
            [
                Input::text(format!("antenna{at}"), "Antenna")
                    .value(&one.number)
                    .attribute("inputmode", "numeric"),
                Input::select(
                    format!("place{at}"),
                    "Place",
                    place(&one.place, "as the reader"),
                ),
                Input::select(
                    format!("zone{at}"),
                    "What it hears",
                    choices(ZONES, &one.zone),
                ),
                Input::text(format!("power{at}"), "Power, dBm")
                    .value(&one.power)
                    .attribute("inputmode", "decimal"),
            ]
        });
        groups.push(Group::new("Antennas", rows.collect()).rows_of(4).help(
            "A row for each antenna in use, with its number at the reader. Without any, the whole reader watches its \
             place as a room. A portal has two antennas at one place: its inner and its outer side.",
        ));
        Ok(groups)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        let values = engine::read(groups[0].inputs.iter(), sent)?;
        let text = |name: &str| {
            let value = values.get(name).and_then(Value::as_str);
            value.unwrap_or_default().trim().to_owned()
        };
        let antennas = (0..ROWS_MAX).filter_map(|row| {
            let text = |name: &str| sent.text(&format!("{name}{row}")).trim().to_owned();
            let one = Antenna {
                row,
                number: text("antenna"),
                place: text("place"),
                zone: text("zone"),
                power: text("power"),
            };
            let values = [&one.number, &one.place, &one.power];
            let is_used = values.iter().any(|value| !value.is_empty());
            (is_used || !["", "room"].contains(&one.zone.as_str())).then_some(one)
        });
        Ok(Draft {
            name: text("name"),
            protocol: text("protocol"),
            address: text("address"),
            parent: sent.text("parent").to_owned(),
            epc_prefix: text("epcPrefix"),
            antennas: antennas.collect(),
            set_up: String::new(),
        })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<i64> {
        let mut body = draft.body(tx)?;
        body.insert("deviceType".to_owned(), json!(DEVICE_TYPE));
        write::create(tx, ctx, &devices::RESOURCE, body)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, id: &i64, draft: &Draft) -> Result<()> {
        write::patch(tx, ctx, &devices::RESOURCE, *id, draft.body(tx)?)
    }

    fn created(request: &RequestContext, draft: Draft, _: i64) -> Result<Response> {
        request.done(format!("{} created.", draft.name), Self::LIST)
    }

    fn page(_: &i64) -> String {
        Self::LIST.to_owned()
    }

    fn last_actor(connection: &Connection, id: &i64) -> Result<String> {
        crate::core::audit::last_actor(connection, "device", Some(*id), &[])
    }
}

/// The inputs of what a reader is.
fn reader_inputs() -> Vec<Input> {
    vec![
        Input::text("name", "Name").required().max(255),
        Input::select("protocol", "How its reads arrive", PROTOCOLS),
        Input::text("address", "Address")
            .placeholder("192.0.2.9:5084")
            .help("For LLRP. Without a port, 5084."),
        Input::text("epcPrefix", "EPCs begin with")
            .placeholder("3034")
            .help("Hexadecimal. Other tags, such as those of clothes, are ignored."),
    ]
}
