//! The list: searched as one types, filtered, paged by id.

use super::{
    super::{Area, Fields, Route, Shell, Visit, answer, route},
    NAME,
};
use crate::{
    delegates::{DELETED, SEARCHED, blocked},
    error::{Error, Kind, Result},
    search::{Part, Search},
    types::{DelegateCode, Timestamp, Zone},
};
use askama::Template;
use poem::Response;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

/// Lines of a page.
const LINES: usize = 50;
/// Counted at once; the rest is counted when somebody wants to know.
const COUNTED_MAX: u64 = 2_000;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/console/delegates", route::VIEWER, show),
        Route::get("/console/delegates/count", route::VIEWER, count),
    ]
}

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Filters {
    /// Words, or a code.
    pub q: String,
    kind: String,
    flag: String,
    device: Option<i64>,
    /// `no`: those who did not check in there.
    been: String,
    deleted: bool,
    /// An expression of the search language.
    pub search: String,
}

impl Filters {
    pub(super) fn read(fields: &Fields) -> Self {
        Self {
            q: fields.text("q").to_owned(),
            kind: fields.text("type").to_owned(),
            flag: fields.text("flag").to_lowercase(),
            device: fields.number("device").ok().flatten(),
            been: fields.text("been").to_owned(),
            deleted: fields.ticked("deleted"),
            search: fields.text("search").to_owned(),
        }
    }

    /// Whether anything is left out.
    pub(super) fn narrow(&self) -> bool {
        self.deleted || !self.query().is_empty()
    }

    /// Whether it is about this device.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    fn at(&self, device: &i64) -> bool {
        self.device == Some(*device)
    }

    /// Whether more than the box for words is in use.
    fn unfolded(&self) -> bool {
        !self.kind.is_empty() || !self.flag.is_empty() || self.device.is_some() || self.deleted
    }

    /// As a query string, without the question mark.
    pub(super) fn query(&self) -> String {
        let device = self.device.map(|id| id.to_string()).unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("q", self.q.as_str()),
            ("type", &self.kind),
            ("flag", &self.flag),
            ("device", &device),
            ("been", if device.is_empty() { "" } else { &self.been }),
            ("search", &self.search),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if self.deleted {
            query.append_pair("deleted", "1");
        }
        query.finish()
    }

    /// As a search.
    ///
    /// # Errors
    /// [`Kind::InvalidSearch`], with the path to the fault.
    pub(super) fn search(&self, zone: &Zone) -> Result<Search> {
        let own = Search::asked(&SEARCHED, Some(&self.search), zone, None)?;
        let subject = if self.deleted { &*DELETED } else { &*SEARCHED };
        let mut search = Search::everything(subject).and_words(&self.q);
        for filter in self.filters() {
            search = search.and_search(Search::parse(&SEARCHED, &filter.to_string(), zone, None)?);
        }
        Ok(match own {
            Some(own) => search.and_search(own),
            None => search,
        })
    }

    /// What is chosen beside words, in the search language.
    fn filters(&self) -> Vec<Value> {
        let mut filters = Vec::new();
        if !self.kind.is_empty() {
            filters.push(json!({"==": ["delegateType", self.kind]}));
        }
        if !self.flag.is_empty() {
            filters.push(json!({"*=": ["rawFlags", self.flag]}));
        }
        if let Some(device) = self.device {
            let there = |kind: &str| json!({"fi": [kind, {"firstDevice": [device]}, ">= 1"]});
            let been = json!({"or": [there("check-in"), there("check-in-override")]});
            filters.push(if self.been == "no" {
                json!({"not": been})
            } else {
                been
            });
        }
        filters
    }
}

/// Something to try in the search language.
struct Example {
    about: &'static str,
    search: &'static str,
}

impl Example {
    fn address(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("search", self.search)
            .finish();
        format!("/console/delegates?{query}")
    }
}

const EXAMPLES: [Example; 6] = [
    Example {
        about: "nobody can write to them",
        search: r#"{"==": ["email", null]}"#,
    },
    Example {
        about: "have not checked in anywhere",
        search: r#"{"fi": ["check-in", {}, "== 0"]}"#,
    },
    Example {
        about: "checked in three times or more",
        search: r#"{"fi": ["check-in", {}, ">= 3"]}"#,
    },
    Example {
        about: "something in their details",
        search: r#"{"ud": ["Data.dietaryNeeds", "==", "vegan"]}"#,
    },
    Example {
        about: "one of two companies, by part of the name",
        search: r#"{"or": [{"*=": ["company", "north"]}, {"*=": ["company", "south"]}]}"#,
    },
    Example {
        about: "changed since that day",
        search: r#"{">=": ["updatedAt", "2026-11-20 00:00:00"]}"#,
    },
];

#[derive(Template)]
#[template(path = "delegates/list.html")]
struct Page {
    shell: Shell,
    filters: Filters,
    types: Vec<String>,
    devices: Vec<(i64, String)>,
    examples: &'static [Example],
    found: Found,
}

#[derive(Template)]
#[template(path = "delegates/found.html")]
struct FoundPart<'a> {
    shell: &'a Shell,
    filters: &'a Filters,
    found: &'a Found,
}

/// What was found, or why nothing could be.
#[derive(Default)]
struct Found {
    lines: Vec<Line>,
    count: i64,
    /// There are more than were counted.
    more: bool,
    previous: Option<i64>,
    next: Option<i64>,
    /// The delegate whose code was typed or scanned.
    holder: Option<Holder>,
    /// What became of a blocked code.
    lost: Option<(i64, String)>,
    /// What is wrong with the search.
    fault: Option<String>,
    /// There is nobody at all.
    empty_file: bool,
}

/// Who has a code.
struct Holder {
    id: i64,
    name: String,
    code: &'static str,
}

struct Line {
    id: i64,
    name: String,
    company: Option<String>,
    email: Option<String>,
    kind: Option<String>,
    barcode: Option<String>,
    level: Option<String>,
    deleted_at: Option<Timestamp>,
}

async fn show(visit: Visit) -> Result<Response> {
    let filters = Filters::read(&visit.query);
    // A scanner types the code and presses Enter, which is the button: straight to the person.
    if visit.query.ticked("go")
        && let Some(holder) = visit
            .console
            .store
            .look_up(|connection| holder(connection, &filters.q))?
    {
        return Ok(answer::go(&format!("/console/delegates/{}", holder.id)));
    }
    let zone = visit.console.settings().zone.clone();
    let part = part(&visit.query)?;
    let is_part = visit.is_part();
    let asked = filters.clone();
    let outcome = visit
        .console
        .store
        .read(move |connection| {
            let found = match look(connection, &asked, &zone, part) {
                Err(cause) if matches!(cause.kind, Kind::InvalidSearch | Kind::Unavailable) => {
                    Found {
                        // As it is: it begins with a path in the expression.
                        fault: Some(cause.message),
                        ..Found::default()
                    }
                }
                outcome => outcome?,
            };
            let (types, devices) = if is_part {
                (Vec::new(), Vec::new())
            } else {
                (types(connection)?, devices(connection)?)
            };
            Ok((found, types, devices))
        })
        .await?;
    let (found, types, devices) = outcome;
    let shell = visit.shell("Delegates", Some(Area::Delegates));
    let faulty = found.fault.is_some();
    if is_part {
        let part = FoundPart {
            shell: &shell,
            filters: &filters,
            found: &found,
        };
        return if faulty {
            answer::form_again(&part)
        } else {
            answer::page(&part)
        };
    }
    let page = Page {
        shell,
        filters,
        types,
        devices,
        examples: &EXAMPLES,
        found,
    };
    if faulty {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// Counts all that is found, however many.
async fn count(visit: Visit) -> Result<Response> {
    let filters = Filters::read(&visit.query);
    let search = filters.search(&visit.console.settings().zone)?;
    let count = visit
        .console
        .store
        .read(move |connection| search.count(connection, u64::MAX >> 1))
        .await?;
    let count = super::super::shell::number(i64::try_from(count).unwrap_or(i64::MAX));
    if visit.is_part() {
        return Ok(Response::builder()
            .content_type("text/plain; charset=utf-8")
            .body(count));
    }
    visit.flash(format!("{count} delegates are found."));
    Ok(answer::go(&format!(
        "/console/delegates?{}",
        filters.query()
    )))
}

fn part(query: &Fields) -> Result<Part> {
    Ok(match (query.number("after")?, query.number("before")?) {
        (_, Some(id)) => Part::Before(id),
        (after, None) => Part::After(after.unwrap_or(0)),
    })
}

fn look(connection: &Connection, filters: &Filters, zone: &Zone, part: Part) -> Result<Found> {
    let search = filters.search(zone)?;
    let mut ids = search.part(connection, part, LINES as u64 + 1)?;
    let more = ids.len() > LINES;
    let (previous, next) = match part {
        Part::After(after) => {
            ids.truncate(LINES);
            (after > 0, more)
        }
        Part::Before(_) => {
            if more {
                ids.remove(0);
            }
            (more, true)
        }
    };
    let counted = if part == Part::After(0) && !more {
        ids.len() as u64
    } else if filters.narrow() {
        search.count(connection, COUNTED_MAX + 1)?
    } else {
        all(connection)?
    };
    let capped = filters.narrow() && counted > COUNTED_MAX;
    let holder = holder(connection, &filters.q)?;
    Ok(Found {
        count: i64::try_from(if capped { COUNTED_MAX } else { counted }).unwrap_or(i64::MAX),
        more: capped,
        previous: ids.first().copied().filter(|_| previous),
        next: ids.last().copied().filter(|_| next),
        lines: lines(connection, &ids)?,
        lost: match holder {
            Some(_) => None,
            None => lost(connection, &filters.q)?,
        },
        holder,
        fault: None,
        empty_file: counted == 0 && !filters.narrow(),
    })
}

fn all(connection: &Connection) -> Result<u64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM delegates INDEXED BY delegates_alive WHERE deleted_at IS NULL",
        )?
        .query_row([], |row| row.get(0))?)
}

fn lines(connection: &Connection, ids: &[i64]) -> Result<Vec<Line>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT p.id, {NAME}, p.company, p.email, p.delegate_type, p.barcode, n.level, p.deleted_at
         FROM delegates p LEFT JOIN gate_notes n ON n.delegate_id = p.id
         WHERE p.id IN (SELECT value FROM json_each(?1)) ORDER BY p.id"
    ))?;
    let lines = statement.query_map([json!(ids).to_string()], |row| {
        Ok(Line {
            id: row.get(0)?,
            name: row.get(1)?,
            company: row.get(2)?,
            email: row.get(3)?,
            kind: row.get(4)?,
            barcode: row.get(5)?,
            level: row.get(6)?,
            deleted_at: row.get(7)?,
        })
    })?;
    Ok(lines.collect::<rusqlite::Result<_>>()?)
}

/// Who has this code, whichever kind of code it is.
fn holder(connection: &Connection, typed: &str) -> Result<Option<Holder>> {
    if typed.is_empty() {
        return Ok(None);
    }
    for code in DelegateCode::ALL {
        let id: Option<i64> = connection
            .prepare_cached(code.find_sql())?
            .query_row([typed], |row| row.get(0))
            .optional()?;
        if let Some(id) = id {
            return Ok(Some(Holder {
                id,
                name: super::name_of(connection, id)?.unwrap_or_default(),
                code: super::label(code.name()),
            }));
        }
    }
    Ok(None)
}

/// Whose blocked code this is, and what became of it.
fn lost(connection: &Connection, typed: &str) -> Result<Option<(i64, String)>> {
    for code in DelegateCode::ALL {
        if let Some(blocked) = blocked::get(connection, code.name(), typed)? {
            let told = answer::sentence(&blocked::told(connection, &blocked)?);
            return Ok(Some((blocked.delegate.0, told)));
        }
    }
    Ok(None)
}

/// The types there are, each found by a step in the index.
pub(super) fn types(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE types (name) AS (
             SELECT min(delegate_type) FROM delegates WHERE delegate_type IS NOT NULL AND deleted_at IS NULL
             UNION ALL
             SELECT (SELECT min(delegate_type) FROM delegates WHERE delegate_type > name AND deleted_at IS NULL)
             FROM types WHERE name IS NOT NULL
         ) SELECT name FROM types WHERE name <> '' LIMIT 100",
    )?;
    let types = statement.query_map([], |row| row.get(0))?;
    Ok(types.collect::<rusqlite::Result<_>>()?)
}

/// Devices where somebody ever checked in.
fn devices(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached(
        "SELECT d.id, coalesce(d.name, d.code) FROM occupancy o JOIN devices d ON d.id = o.device_id
         WHERE d.deleted_at IS NULL ORDER BY 2 LIMIT 500",
    )?;
    let devices = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(devices.collect::<rusqlite::Result<_>>()?)
}

/// Those whom words find, but for one; for choosing somebody.
pub(super) fn candidates(
    connection: &Connection,
    words: &str,
    but: i64,
) -> Result<Vec<(i64, String, String)>> {
    if words.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut ids =
        Search::everything(&SEARCHED)
            .and_words(words)
            .part(connection, Part::After(0), 21)?;
    if let Some(holder) = holder(connection, words.trim())? {
        ids.insert(0, holder.id);
    }
    ids.retain(|id| *id != but);
    ids.sort_unstable();
    ids.dedup();
    let told = |line: Line| {
        let about = [line.company, line.email, line.barcode];
        let about: Vec<String> = about.into_iter().flatten().collect();
        (line.id, line.name, about.join(" · "))
    };
    Ok(lines(connection, &ids)?.into_iter().map(told).collect())
}

/// Reads what has to be there.
pub(super) fn missing(id: i64) -> Error {
    Error::new(
        Kind::DelegateNotFound,
        format!("there is no delegate {id}; it may have been erased"),
    )
}
