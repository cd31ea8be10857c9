//! What happened, the newest first: interactions and refusals in one list, all the way back.

use super::{
    filter::{Filter, Finder, newest},
    lines::{self, Key, Line},
    look,
};
use crate::{
    admin::{Area, Layout, RequestContext, answer},
    domain::interactions::USUAL_TYPES,
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;

/// Lines on a page.
pub(super) const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "interactions/tail.html")]
struct Page {
    layout: Layout,
    filter: Filter,
    failure: Option<String>,
    kinds: &'static [&'static str],
    devices: Vec<(i64, String)>,
    lines: Vec<Line>,
    /// Where the next page begins.
    next: Option<String>,
    /// Nothing was found as far as was looked.
    looked_in_vain: bool,
    /// The address of the stream; none where the page stands still.
    stream: Option<String>,
    /// The address of the page that goes on or stands still, whichever this is not.
    other: String,
    paused: bool,
    newest: bool,
}

/// A place in both tables: ids up to these come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) interaction: i64,
    pub(super) refusal: i64,
}

impl Place {
    /// Reads `123-45`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (interaction, refusal) = text.split_once('-')?;
        Some(Self {
            interaction: interaction.parse().ok()?,
            refusal: refusal.parse().ok()?,
        })
    }

    pub(super) fn newest(connection: &Connection) -> Result<Self> {
        Ok(Self {
            interaction: newest(connection, "interactions")?,
            refusal: newest(connection, "refusals")?,
        })
    }

    fn shown(self) -> String {
        format!("{}-{}", self.interaction, self.refusal)
    }
}

/// One of the two kinds of lines, as far as it was looked for.
struct Half {
    lines: Vec<Line>,
    /// Below this one was not looked.
    reached: Option<i64>,
    /// When the last that was looked at came in: older lines of the other kind have to wait.
    floor: Option<i64>,
}

/// A page of lines and where the next one begins.
pub(super) struct Found {
    pub(super) lines: Vec<Line>,
    next: Option<Place>,
}

/// Looks for a page of lines from a place on.
pub(super) fn find(connection: &Connection, finder: &Finder, from: Place) -> Result<Found> {
    let nothing = || Half {
        lines: Vec::new(),
        reached: None,
        floor: None,
    };
    let interactions = if finder.wants_interactions() {
        let found = look::back(from.interaction, PAGE, |ids, most| {
            finder.interactions(connection, ids, most)
        })?;
        Half {
            floor: floor(connection, found.reached, "interactions", "created_at")?,
            lines: lines::interactions(connection, &found.ids)?,
            reached: found.reached,
        }
    } else {
        nothing()
    };
    let refusals = if finder.wants_refusals() {
        let found = look::back(from.refusal, PAGE, |ids, most| {
            finder.refusals(connection, ids, most)
        })?;
        Half {
            floor: floor(connection, found.reached, "refusals", "at")?,
            lines: lines::refusals(connection, &found.ids)?,
            reached: found.reached,
        }
    } else {
        nothing()
    };
    Ok(merged(interactions, refusals, from))
}

/// When the first row from an id on came in.
fn floor(
    connection: &Connection,
    reached: Option<i64>,
    table: &str,
    column: &str,
) -> Result<Option<i64>> {
    let Some(reached) = reached else {
        return Ok(None);
    };
    let sql = format!("SELECT {column} FROM {table} WHERE id >= ?1 ORDER BY id LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([reached])?;
    Ok(match rows.next()? {
        Some(row) => Some(row.get(0)?),
        None => None,
    })
}

fn merged(interactions: Half, refusals: Half, from: Place) -> Found {
    let floor = interactions.floor.max(refusals.floor).unwrap_or(i64::MIN);
    let counts = (interactions.lines.len(), refusals.lines.len());
    let mut lines: Vec<Line> = interactions.lines;
    lines.extend(refusals.lines);
    // Stable: what came in at the same moment stays in the order of its kind.
    lines.sort_by_key(|line| std::cmp::Reverse(line.at));
    lines.retain(|line| line.at.0 >= floor);
    lines.truncate(PAGE);
    let (mut shown, mut next) = ((0, 0), from);
    for line in &lines {
        match line.key {
            Key::Interaction(id) => {
                shown.0 += 1;
                next.interaction = next.interaction.min(id - 1);
            }
            Key::Refusal(id) => {
                shown.1 += 1;
                next.refusal = next.refusal.min(id - 1);
            }
        }
    }
    // What was looked through and shown in full is left behind.
    let behind = |shown: usize, count: usize, reached: Option<i64>, next: i64| {
        if shown < count {
            next
        } else {
            reached.map_or(0, |reached| next.min(reached - 1))
        }
    };
    next.interaction = behind(shown.0, counts.0, interactions.reached, next.interaction);
    next.refusal = behind(shown.1, counts.1, refusals.reached, next.refusal);
    let more = next.interaction > 0 || next.refusal > 0;
    Found {
        lines,
        next: more.then_some(next),
    }
}

pub(super) async fn show(request: RequestContext) -> Result<Response> {
    let zone = request.console.settings().zone.clone();
    let (filter, mut failure) = Filter::read(&request.query, &zone);
    let before = request.query.filled("before").and_then(Place::parse);
    let asked = filter.clone();
    let (found, devices, at) = request
        .console
        .store
        .read(move |connection| {
            let at = Place::newest(connection)?;
            let found = asked
                .prepare(connection, &zone)
                .and_then(|finder| find(connection, &finder, before.unwrap_or(at)));
            let found = match found {
                Err(cause) if is_about_search(&cause) => Err(cause.message),
                found => Ok(found?),
            };
            Ok((found, lines::devices(connection)?, at))
        })
        .await?;
    let found = found.unwrap_or_else(|message| {
        failure = Some(answer::sentence(&format!(
            "this search cannot be run: {message}"
        )));
        Found {
            lines: Vec::new(),
            next: None,
        }
    });
    let failed = failure.is_some();
    let query = filter.query();
    let joined = |part: &str| {
        let between = if query.is_empty() { "" } else { "&" };
        format!("?{query}{between}{part}")
    };
    let paused = request.query.ticked("paused");
    let live = before.is_none() && !paused && !failed;
    let page = Page {
        layout: request.layout("Activity", Some(Area::Interactions)),
        failure,
        kinds: USUAL_TYPES,
        devices,
        looked_in_vain: found.lines.is_empty() && found.next.is_some(),
        next: found
            .next
            .map(|next| joined(&format!("before={}", next.shown()))),
        lines: found.lines,
        stream: live.then(|| {
            let after = joined(&format!("after={}", at.shown()));
            format!("/console/interactions/stream{after}")
        }),
        other: if paused || before.is_some() {
            format!("/console/interactions?{query}")
        } else {
            format!("/console/interactions{}", joined("paused=on"))
        },
        paused,
        newest: before.is_none(),
        filter,
    };
    if failed {
        answer::form_again(&page)
    } else {
        answer::page(&page)
    }
}

/// Whether a failure is one of what was typed, to be told beside it.
pub(super) fn is_about_search(cause: &Error) -> bool {
    matches!(
        cause.kind,
        Kind::InvalidSearch | Kind::NotJson | Kind::Invalid
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Timestamp;

    fn line(key: Key, at: i64) -> Line {
        Line {
            key,
            at: Timestamp(at),
            recorded_at: Timestamp(at),
            kind: "check-in".into(),
            delegate: String::new(),
            delegate_id: None,
            other: String::new(),
            device: String::new(),
            device_id: None,
            message: None,
            code: None,
            scanned: String::new(),
            sender: String::new(),
        }
    }

    fn half(lines: Vec<Line>, reached: Option<i64>, floor: Option<i64>) -> Half {
        Half {
            lines,
            reached,
            floor,
        }
    }

    const FROM: Place = Place {
        interaction: 100,
        refusal: 10,
    };

    #[test]
    fn both_kinds_are_told_in_the_order_they_came_in() {
        let found = merged(
            half(
                vec![
                    line(Key::Interaction(100), 50),
                    line(Key::Interaction(99), 10),
                ],
                None,
                None,
            ),
            half(vec![line(Key::Refusal(10), 20)], None, None),
            FROM,
        );
        let order: Vec<_> = found.lines.iter().map(Line::name).collect();
        assert_eq!(order, ["i100", "r10", "i99"]);
        assert_eq!(found.next, None);
    }

    #[test]
    fn one_kind_waits_for_where_the_other_was_not_looked_yet() {
        let found = merged(
            half(vec![line(Key::Interaction(90), 50)], Some(80), Some(40)),
            half(
                vec![line(Key::Refusal(10), 45), line(Key::Refusal(9), 30)],
                None,
                None,
            ),
            FROM,
        );
        let order: Vec<_> = found.lines.iter().map(Line::name).collect();
        assert_eq!(order, ["i90", "r10"]);
        let next = Place {
            interaction: 79,
            refusal: 9,
        };
        assert_eq!(found.next, Some(next));
        assert_eq!(Place::parse(&next.shown()), Some(next));
    }

    #[test]
    fn a_look_in_vain_goes_on_below() {
        let found = merged(
            half(Vec::new(), Some(60), Some(7)),
            half(Vec::new(), None, None),
            FROM,
        );
        assert!(found.lines.is_empty());
        let next = Place {
            interaction: 59,
            refusal: 0,
        };
        assert_eq!(found.next, Some(next));
    }
}
