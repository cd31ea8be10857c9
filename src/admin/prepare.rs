//! The preparation of an event, step by step: what each holds or lacks, and at the end a ticket that is scanned on trial.

use crate::admin::{answer, layout::number, prelude::*};
use crate::{
    core::settings::Settings,
    domain::{
        apps::state,
        delegates,
        devices::{self, tree},
        interactions::{
            draft::Draft,
            record::{self, Outcome as Recorded},
            types::CHECK_IN,
            unregistered::unregistered,
        },
        messages::gateways,
    },
    ops::backup::ledger,
    types::{DelegateSelector, DeviceId, DeviceSelector},
};

const PAGE: &str = "/console/prepare";
/// Places that are named of those that refuse everybody.
const NAMED_MAX: usize = 5;

pub(super) fn routes() -> Vec<Route> {
    Routes::access(VIEWER).get(PAGE, show).all()
}

/// A step: what it is, what it holds or lacks, and where it is done.
pub struct Step {
    pub name: &'static str,
    pub is_done: bool,
    pub words: String,
    pub label: &'static str,
    pub path: String,
    /// What is wrong with it.
    pub warning: Option<String>,
    /// Doors open without it.
    pub is_optional: bool,
}

impl Step {
    fn new(name: &'static str, is_done: bool, words: String) -> Self {
        Self {
            name,
            is_done,
            words,
            label: "",
            path: String::new(),
            warning: None,
            is_optional: false,
        }
    }

    fn go(mut self, label: &'static str, path: impl Into<String>) -> Self {
        self.label = label;
        self.path = path.into();
        self
    }

    fn warn(mut self, warning: Option<String>) -> Self {
        self.is_done &= warning.is_none();
        self.warning = warning;
        self
    }

    fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }
}

/// The result of a scan on trial.
struct Tried {
    who: String,
    place: String,
    refusal: Option<String>,
}

#[derive(Template)]
#[template(path = "prepare.html")]
struct Page {
    layout: Layout,
    steps: Vec<Step>,
    places: Vec<Choice>,
    /// The code to try.
    code: String,
    tried: Option<Tried>,
    failure: Option<String>,
}

impl Page {
    fn missing(&self) -> Vec<&Step> {
        let missing = self.steps.iter();
        missing
            .filter(|step| !step.is_done && !step.is_optional)
            .collect()
    }

    /// Where a step is done, by those who may.
    fn path_of<'s>(&self, step: &'s Step) -> &'s str {
        if self.layout.operates() {
            &step.path
        } else {
            ""
        }
    }

    fn is_admitted(&self) -> bool {
        let tried = self.tried.as_ref();
        tried.is_some_and(|tried| tried.refusal.is_none())
    }

    /// The number of the first step that is not done; 0 where all are.
    fn current(&self) -> usize {
        let current = self
            .steps
            .iter()
            .position(|step| !step.is_done && !step.is_optional);
        current.map_or(0, |at| at + 1)
    }
}

fn things(count: i64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {}", say(one)),
        _ => format!("{} {}", number(count), say(many)),
    }
}

/// The steps, as far as the file knows of them.
fn steps(connection: &Connection, settings: &Settings) -> Result<Vec<Step>> {
    let zone = settings.zone.iana_name();
    let is_utc = zone == "UTC";
    let has_event = devices::is_any_event(connection)?;
    let (places, _) = tree::count(connection)?;
    let closed = unregistered(connection, settings)?;
    let people = i64::try_from(delegates::count(connection)?).unwrap_or(i64::MAX);
    let codeless = delegates::without_code(connection)?;
    let gates = state::running(connection, Timestamp::now())?.len();
    let gates = i64::try_from(gates).unwrap_or(i64::MAX);
    let has_gateway = !gateways::all(connection)?.is_empty();
    let is_planned = settings.backups.is_some();
    let made = ledger::last_made(connection)?;
    let named: Vec<_> = closed
        .iter()
        .take(NAMED_MAX)
        .map(|place| place.name.as_str())
        .collect();
    let more = closed.len().saturating_sub(NAMED_MAX);
    let refuses = (!closed.is_empty() && people > 0).then(|| {
        let more = if more > 0 {
            format!(" {}", tx("common-and-count-more").with("count", more))
        } else {
            String::new()
        };
        let text = tx("prepare-nobody-is-registered");
        text.with("places", format!("{}{more}", named.join(", ")))
            .to_string()
    });
    Ok(vec![
        Step::new("Event", has_event, format!("{}, {zone}", settings.name()))
            .go(
                if has_event { "Change" } else { "Create an event" },
                if has_event { "/console/settings" } else { "/console/devices/new?type=event" },
            )
            .warn(is_utc.then(|| {
                "The time zone is UTC: times on tickets and at gates are those of London in winter. Choose the venue's zone under Settings.".to_owned()
            })),
        Step::new("Places", places > 0, things(places, "place", "places"))
            .go("Places", "/console/devices"),
        Step::new("Attendee list", people > 0, match codeless {
            0 => things(people, "attendee", "attendees"),
            without => format!("{}, {} without a code", things(people, "attendee", "attendees"), number(without)),
        })
        .go("Import a list", "/console/import"),
        Step::new("Who may enter where", people > 0 && places > 0, if closed.is_empty() {
            "Every place admits somebody".to_owned()
        } else {
            things(i64::try_from(closed.len()).unwrap_or(i64::MAX), "place admits nobody yet", "places admit nobody yet")
        })
        .go(
            if refuses.is_some() { "Select attendees" } else { "Who may enter" },
            if refuses.is_some() { "/console/delegates" } else { "/console/devices/entry" },
        )
        .warn(refuses),
        Step::new("Gates", gates > 0, match gates {
            0 => "Turn phones and tablets into gates: scan one code each".to_owned(),
            gates => things(gates, "app is connected", "apps are connected"),
        })
        .go("Add a gate", "/console/discovery"),
        Step::new("Messages", has_gateway, if has_gateway {
            "A gateway is set up".to_owned()
        } else {
            "Optional. E-mails and texts need a gateway".to_owned()
        })
        .go("Set up", "/console/messages/gateways")
        .optional(),
        Step::new("Backup", is_planned || made.is_some(), match (is_planned, made) {
            (true, _) => "Scheduled".to_owned(),
            (false, Some(at)) => format!("Last one at {}; none is scheduled", settings.zone.spoken(at, Timestamp::now())),
            (false, None) => "None was made yet".to_owned(),
        })
        .go("Schedule", "/console/settings/backups"),
    ])
}

async fn show(request: RequestContext) -> Result<Response> {
    let (typed, place) = (
        request.query.text("code").to_owned(),
        request.query.number("place")?,
    );
    let ctx = request.context();
    let layout = request.layout("Checklist", Some(Area::Prepare));
    let page = request
        .read(move |connection| {
            let mut page = Page {
                steps: steps(connection, &ctx.settings)?,
                places: places(connection, place)?,
                code: typed,
                tried: None,
                failure: None,
                layout,
            };
            match place.filter(|_| !page.code.is_empty()) {
                Some(place) => match scan(connection, &ctx, &page.code, DeviceId(place)) {
                    Ok(tried) => page.tried = Some(tried),
                    Err(cause) => page.failure = Some(crate::admin::form::told(cause)?),
                },
                None => page.code = delegates::any_code(connection)?.unwrap_or_default(),
            }
            Ok(page)
        })
        .await?;
    answer::form_page(page.failure.is_some(), &page)
}

fn places(connection: &Connection, chosen: Option<i64>) -> Result<Vec<Choice>> {
    let places = devices::places(connection)?.into_iter();
    let places = places.map(|place| {
        Choice::named(
            place.id.to_string(),
            place.with_type(),
            chosen == Some(place.id),
        )
    });
    Ok(places.collect())
}

/// Scans a code at a place as a gate would; nothing is stored.
fn scan(connection: &Connection, ctx: &Context, code: &str, place: DeviceId) -> Result<Tried> {
    let draft = Draft {
        kind: CHECK_IN.name.to_owned(),
        delegates: [Some(DelegateSelector::Scanned(code.to_owned())), None, None],
        devices: [Some(DeviceSelector::Id(place)), None, None],
        ..Draft::default()
    };
    let outcome = record::test(connection, ctx, &draft, Timestamp::now())?.outcome;
    let holder = delegates::find(connection, &DelegateSelector::Scanned(code.to_owned()));
    let who = match holder {
        Ok(holder) => delegates::name_of(connection, holder.0)?,
        Err(_) => None,
    };
    Ok(Tried {
        who: who.unwrap_or_else(|| code.to_owned()),
        place: devices::called(connection, place)?,
        refusal: match outcome {
            Recorded::Refused(refusal) => Some(answer::sentence(&refusal)),
            _ => None,
        },
    })
}
