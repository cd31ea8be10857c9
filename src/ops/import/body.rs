//! The cells of a row as a body such as the API takes, with its note and the reason to block its codes.

use super::{
    Columns, What,
    bad::{Failure, Problem},
    choice::{HiddenRows, Numbers},
    clean::clean,
    columns::Column,
    dates,
    left_out::total,
    names,
    source::{Content, Number, OURS, Row},
    status::{Rule, not_good},
    survey::is_rounded,
    target::Target,
    values,
};
use crate::{
    domain::delegates::note::{Level, NOTE_MAX_CHARS, Note},
    types::json::merge_patch,
};
use serde_json::{Map, Value};

/// The beginning of a reference to a device by its name, and to a room that is created where it is not there.
pub const BY_NAME: &str = "name:";
pub const ROOM: &str = "room:";

/// The beginning of the reason for a code that an import blocks.
pub const BLOCKED_BY_LIST: &str = "the list calls the ticket";

/// A row as it is to be stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Planned {
    pub body: Map<String, Value>,
    /// A note for gates.
    pub note: Option<Note>,
    /// The reason why the codes are blocked.
    pub block: Option<String>,
    /// Codes that a spreadsheet damaged, by their names: only a record that has them may.
    pub damaged: Vec<(&'static str, Problem)>,
}

impl Columns {
    /// A row of a table. Cells without a value are left out.
    pub fn planned(&self, row: Row) -> Result<Planned, Failure> {
        let cells = match row.content {
            Content::Cells(cells) => cells,
            Content::BadCell(at, _, cells) if self.is_total(&cells, row.line) => {
                return Err(total(&cells, at));
            }
            Content::BadCell(at, reason, _) => return Err(self.bad_cell(at, reason).into()),
            Content::Unreadable(reason) => return Err(Problem::of_row(reason).into()),
            Content::Object(_) => return Err(Problem::of_row("is an object").into()),
        };
        if cells.iter().all(String::is_empty) {
            return Err(Problem::of_row("has no values").into());
        }
        let left_out = |reason: &str| Err(Failure::LeftOut(Problem::of_row(reason)));
        if row.is_hidden && self.hidden_rows == Some(HiddenRows::Drop) {
            return left_out("is hidden by a filter");
        }
        if self.is_header(&cells) {
            return left_out("is the header once more");
        }
        if self.is_total(&cells, row.line) {
            return Err(total(&cells, 0));
        }
        if self.is_not_checked_in(&cells) {
            return left_out("says that nobody was checked in");
        }
        let mut planned = RowReader::of(self, cells, &row.numbers)?;
        if planned.body.is_empty() {
            return Err(Problem::of_row("has no values but in columns that are skipped").into());
        }
        self.set_in(&mut planned.body)?;
        Ok(planned)
    }

    fn bad_cell(&self, at: usize, reason: String) -> Problem {
        match self
            .columns
            .get(at)
            .filter(|column| !column.header.is_empty())
        {
            Some(column) => Problem::of_column(&column.header, reason),
            None => Problem::nameless(at),
        }
    }

    /// Puts in the values of properties that a row does not have.
    pub(super) fn set_in(&self, body: &mut Map<String, Value>) -> Result<(), Problem> {
        for (column, value) in &self.set {
            let mut reading = RowReader::new(self);
            reading.put(column, value)?;
            for (name, mut value) in reading.end()?.body {
                match body.get_mut(&name) {
                    Some(own @ Value::Object(_)) if name == "data" => {
                        merge_patch(&mut value, own.take());
                        *own = value;
                    }
                    Some(_) => {}
                    None => drop(body.insert(name, value)),
                }
            }
        }
        Ok(())
    }
}

/// A row as it is read, cell by cell.
struct RowReader<'a> {
    columns: &'a Columns,
    planned: Planned,
    data: Value,
    /// Days, with the times that they are of.
    days: Vec<(&'static [&'static str], &'a Column, String)>,
    notes: Vec<String>,
    /// The header by which somebody is to take notice.
    attention: Option<&'a str>,
    room: Option<(&'a str, String)>,
}

impl<'a> RowReader<'a> {
    fn new(columns: &'a Columns) -> Self {
        Self {
            columns,
            planned: Planned::default(),
            data: Value::Object(Map::new()),
            days: Vec::new(),
            notes: Vec::new(),
            attention: None,
            room: None,
        }
    }

    fn of(
        columns: &'a Columns,
        cells: Vec<String>,
        numbers: &[Number],
    ) -> Result<Planned, Failure> {
        let mut reading = Self::new(columns);
        reading.judge(&cells)?;
        for (at, cell) in cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.is_empty())
        {
            let Some(column) = columns
                .columns
                .get(at)
                .filter(|column| column.target != Target::Nameless)
            else {
                if columns.is_spreadsheet {
                    continue;
                }
                return Err(Problem::nameless(at).into());
            };
            let number = numbers.iter().find(|number| number.column == at);
            match number.map_or(Ok(cell.as_str()), |number| {
                reading.of_number(column, cell, number)
            }) {
                Ok(cell) => reading.clean(column, cell)?,
                Err(reason) => reading.put_damaged(column, cell, reason)?,
            }
        }
        Ok(reading.end()?)
    }

    /// Looks whether a ticket is still good.
    fn judge(&mut self, cells: &[String]) -> Result<(), Failure> {
        for (column, cell) in self.columns.columns.iter().zip(cells) {
            let Some((manner, rule)) = column.status else {
                continue;
            };
            let header = &column.header;
            match (rule, not_good(manner, header, cell)) {
                (Rule::Block, Some(kind)) => {
                    self.planned.block = Some(format!("{BLOCKED_BY_LIST} {kind}"));
                }
                (Rule::Drop, Some(kind)) => {
                    let reason = format!("the ticket is {kind}");
                    return Err(Failure::LeftOut(Problem::of_column(header, reason)));
                }
                (Rule::Keep, _) | (_, None) => {}
            }
        }
        Ok(())
    }

    /// The text of a number as the spreadsheet has it.
    ///
    /// # Errors
    /// The fault of a code that the spreadsheet damaged.
    fn of_number<'c>(
        &self,
        column: &Column,
        cell: &'c str,
        number: &'c Number,
    ) -> Result<&'c str, String> {
        let refused = |reason: &str| {
            Err(format!(
                "{cell} {reason}; format the column as text there, and enter the codes anew"
            ))
        };
        let shown = number.shown.as_deref();
        match shown.filter(|_| self.columns.numbers != Some(Numbers::Stored)) {
            Some(shown) => Ok(shown),
            None if !column.target.is_code() => Ok(cell),
            None if cell.contains('.') => refused("is a number with a fraction, and no code"),
            None if is_rounded(cell) => refused(
                "is a number of more than 15 digits, of which a spreadsheet keeps the first 15: the code was rounded",
            ),
            None if column.is_rounded => refused(
                "is a number in a column whose longer codes the spreadsheet rounded: it may have lost zeros in front",
            ),
            None => Ok(cell),
        }
    }

    fn clean(&mut self, column: &'a Column, cell: &str) -> Result<(), Problem> {
        let is_code = column.target.is_code();
        // Cells of ours stand as they are; a spreadsheet may still have damaged a code.
        let is_ours = self.columns.is_ours;
        if is_ours && !is_code || matches!(column.target, Target::Data { json: true, .. }) {
            return self.put(column, cell);
        }
        let clean = match clean(cell, is_code) {
            Ok(_) if is_ours => return self.put(column, cell),
            Ok(clean) => clean,
            Err(reason) => return self.put_damaged(column, cell, reason),
        };
        if clean.text.is_empty() {
            return Ok(());
        }
        self.put(column, &clean.text)
    }

    /// Puts a damaged code, which is good for a record that has it already, and for nothing else.
    fn put_damaged(
        &mut self,
        column: &'a Column,
        cell: &str,
        reason: String,
    ) -> Result<(), Problem> {
        let problem = Problem::of_column(&column.header, reason);
        let Target::Property { name, .. } = &column.target else {
            return Err(problem);
        };
        self.planned.damaged.push((name, problem));
        self.put(column, cell)
    }

    /// Puts the value of a cell where its column says.
    fn put(&mut self, column: &'a Column, cell: &str) -> Result<(), Problem> {
        let refused = |reason: String| Problem::of_column(&column.header, reason);
        let what = self.columns.what;
        if column.header == OURS
            && let Some(reason) = what.misnamed(cell)
        {
            return Err(refused(reason));
        }
        let body = &mut self.planned.body;
        match &column.target {
            Target::Property { name, .. }
                if *name == "parent" && what == What::Devices && is_name(cell) =>
            {
                body.insert((*name).to_owned(), format!("{BY_NAME}{cell}").into());
            }
            Target::Property { name, .. }
                if column.target.is_time() && dates::is_time_of_day(cell) =>
            {
                body.insert((*name).to_owned(), cell.into());
            }
            Target::Property { name, kind } => {
                let value = values::read(name, *kind, cell, column.dates).map_err(refused)?;
                if *name == "data" {
                    self.put_data(value);
                } else {
                    body.insert((*name).to_owned(), value);
                }
            }
            Target::Participant { name, code } => {
                body.insert((*name).to_owned(), format!("{code}:{cell}").into());
            }
            Target::Data { section, key, json } => {
                let is_rule = section.as_deref() == Some("Access") && what == What::Devices;
                let value = values::free(cell, *json || is_rule && values::is_whole(cell));
                let value = value.map_err(refused)?;
                self.put_part(section.as_deref(), key, value)
                    .map_err(refused)?;
            }
            Target::WholeName => {
                let (first, last) = names::split(cell);
                body.insert("lastName".to_owned(), last.into());
                if let Some(first) = first {
                    body.insert("firstName".to_owned(), first.into());
                }
            }
            Target::Note => self.notes.push(cell.to_owned()),
            Target::Attention => {
                if values::flag(cell) == Some(true) {
                    self.attention = Some(&column.header);
                }
            }
            Target::Days(of) => self.days.push((*of, column, cell.to_owned())),
            Target::Room => self.room = Some((&column.header, cell.to_owned())),
            Target::Skipped | Target::Nameless => {}
        }
        Ok(())
    }

    fn put_part(&mut self, section: Option<&str>, key: &str, value: Value) -> Result<(), String> {
        let place = match section {
            None => &mut self.data,
            Some(section) => &mut self.data[section],
        };
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        match place {
            Value::Object(place) => drop(place.insert(key.to_owned(), value)),
            _ => return Err("data: is no object".into()),
        }
        Ok(())
    }

    /// Puts what a column `data` holds beside what others do. Of a record it is a merge patch, as
    /// the API takes it; of an interaction it is what happened, with its nulls.
    fn put_data(&mut self, value: Value) {
        match (&mut self.data, value) {
            (Value::Object(data), Value::Object(value))
                if self.columns.what == What::Interactions =>
            {
                data.extend(value);
            }
            (data, value) => merge_patch(data, value),
        }
    }

    fn end(mut self) -> Result<Planned, Problem> {
        self.join_days()?;
        if let Some((header, name)) = self.room.take() {
            if self.planned.body.contains_key("parent") {
                let _ = self.put_part(Some("Data"), header, name.into());
            } else {
                let room = format!("{ROOM}{name}");
                self.planned.body.insert("parent".to_owned(), room.into());
            }
        }
        self.planned.note = self.note();
        if self.data.as_object().is_some_and(|data| !data.is_empty()) {
            self.planned.body.insert("data".into(), self.data);
        }
        Ok(self.planned)
    }

    /// Puts days and times of day together.
    fn join_days(&mut self) -> Result<(), Problem> {
        for (times, column, day) in std::mem::take(&mut self.days) {
            for name in times {
                let is_column = self.columns.has_any(&[name]);
                let time = self.planned.body.get(*name).and_then(Value::as_str);
                let joined = match time {
                    Some(time) if dates::is_time_of_day(time) => format!("{day} {time}"),
                    None if is_column || times.len() == 1 => day.clone(),
                    _ => continue,
                };
                let read = dates::read(&joined, column.dates);
                let read = read.map_err(|reason| {
                    Problem::of_column(&column.header, format!("{name}: {reason}"))
                })?;
                self.planned.body.insert((*name).to_owned(), read);
            }
        }
        Ok(())
    }

    fn note(&self) -> Option<Note> {
        let (level, text) = match (self.attention, self.notes.join("; ")) {
            (None, text) if text.is_empty() => return None,
            (None, text) => (Level::Info, text),
            (Some(header), text) if text.is_empty() => (Level::Warning, header.to_owned()),
            (Some(_), text) => (Level::Warning, text),
        };
        Some(Note {
            level,
            text: text.chars().take(NOTE_MAX_CHARS).collect(),
        })
    }
}

/// Returns whether a reference to a device is neither an id nor a selector, and so a name.
fn is_name(cell: &str) -> bool {
    let is_id = cell.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_selector = |(before, after): (&str, &str)| is_word(before) && !after.starts_with(' ');
    !is_id && !cell.split_once(':').is_some_and(is_selector)
}

#[cfg(test)]
mod tests;
