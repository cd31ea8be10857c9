//! The programme of a day as a grid: rooms beside each other, the time downwards. A session is drawn to where it moves.

use crate::admin::prelude::*;
use crate::domain::devices::programme::{self, Programme, Session};

const PAGE: &str = "/console/devices/programme";
/// The time of a row, in milliseconds.
const STEP: i64 = 15 * 60 * 1_000;

/// A field of the grid.
enum Cell {
    Free,
    /// Sessions that share some rows: more than one where they overlap.
    Block {
        rows: usize,
        sessions: Vec<Session>,
    },
    /// Part of the block above.
    Covered,
}

struct Column {
    /// None for sessions without a room.
    room: Option<i64>,
    name: String,
    cells: Vec<Cell>,
}

impl Column {
    fn cell(&self, row: &usize) -> &Cell {
        &self.cells[*row]
    }
}

#[derive(Template)]
#[template(path = "devices/programme.html")]
struct Page {
    layout: Layout,
    zone: Zone,
    programme: Programme,
    /// The beginnings of the rows.
    rows: Vec<Timestamp>,
    columns: Vec<Column>,
}

impl Page {
    fn conflicts(&self) -> impl Iterator<Item = &Session> {
        let sessions = self.programme.sessions.iter();
        sessions.filter(|session| !session.overlaps.is_empty())
    }

    fn day(&self, at: &Timestamp) -> String {
        texts::day_in_words(&self.zone, *at)
    }

    fn clock(&self, at: &Timestamp) -> String {
        self.zone.clock(*at)
    }

    fn times(&self, session: &Session) -> String {
        let (starts, ends) = (session.starts, session.ends);
        format!("{}–{}", self.zone.clock(starts), self.zone.clock(ends))
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let day = request.query.number("day")?.map(Timestamp);
    let layout = request.layout("Programme", Some(Area::Devices));
    let zone = request.console.settings().zone.clone();
    let read = move |connection: &Connection| {
        let programme = Programme::read(connection, &zone, day, Timestamp::now())?;
        let rows = rows(&programme, zone.day(programme.day).1);
        Ok(Page {
            columns: columns(&programme, &rows),
            rows,
            programme,
            layout,
            zone,
        })
    };
    answer::page(&request.read(read).await?)
}

/// The beginnings of rows: from the first session of the day to the end of the last, and an hour on either side.
fn rows(programme: &Programme, day_ends: Timestamp) -> Vec<Timestamp> {
    let first = programme.sessions.first().map(|one| one.starts.0);
    let last = programme.sessions.iter().map(|one| one.ends.0).max();
    let Some((first, last)) = first.zip(last) else {
        return Vec::new();
    };
    let day = programme.day.0;
    let begin = day + (first - day) / STEP * STEP;
    let from = (begin - 4 * STEP).max(day);
    let to = (last + 4 * STEP).min(day_ends.0);
    let rows = (to - from + STEP - 1) / STEP;
    (0..rows).map(|row| Timestamp(from + row * STEP)).collect()
}

fn columns(programme: &Programme, rows: &[Timestamp]) -> Vec<Column> {
    let rooms = programme.rooms.iter();
    let mut columns: Vec<Column> = rooms
        .map(|(id, name)| (Some(*id), name.clone()))
        .chain([(None, "No room".to_owned())])
        .map(|(room, name)| Column {
            cells: cells(programme, room, rows),
            room,
            name,
        })
        .collect();
    columns.retain(|column| {
        let is_used = |cell: &Cell| !matches!(cell, Cell::Free);
        column.room.is_some() || column.cells.iter().any(is_used)
    });
    columns
}

fn cells(programme: &Programme, room: Option<i64>, rows: &[Timestamp]) -> Vec<Cell> {
    let Some(from) = rows.first() else {
        return Vec::new();
    };
    let row = |at: i64| usize::try_from((at - from.0) / STEP).unwrap_or_default();
    let mut cells: Vec<Cell> = rows.iter().map(|_| Cell::Free).collect();
    // The first row of the block above, and the first behind it.
    let mut block = (0, 0);
    for session in programme.sessions.iter().filter(|one| one.room == room) {
        let begins = row(session.starts.0).min(rows.len() - 1);
        let ends = row(session.ends.0 + STEP - 1).clamp(begins + 1, rows.len());
        if begins >= block.1 {
            block = (begins, ends);
            cells[begins] = Cell::Block {
                rows: 0,
                sessions: Vec::new(),
            };
        }
        block.1 = block.1.max(ends);
        if let Cell::Block { rows, sessions } = &mut cells[block.0] {
            *rows = block.1 - block.0;
            sessions.push(session.clone());
        }
        for cell in &mut cells[block.0 + 1..block.1] {
            *cell = Cell::Covered;
        }
    }
    cells
}

/// Moves a session to where it was drawn.
pub(super) fn move_to(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let number = |name: &str| {
        action
            .form
            .number(name)?
            .ok_or_else(|| Error::field(name, "is missing"))
    };
    let starts = Timestamp(number("at")?);
    let (name, overlaps) = programme::move_to(tx, ctx, action.id, number("room")?, starts)?;
    let told = if overlaps.is_empty() {
        format!("{name} moved.")
    } else {
        format!(
            "{name} moved. It overlaps with {} in this room.",
            overlaps.join(", ")
        )
    };
    Ok(Done::new(told, format!("{PAGE}?day={}", starts.0)))
}
