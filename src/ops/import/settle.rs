//! The columns of a table as the cells below them, and the options of an import, decide.

use super::{
    Columns, Mapping, Target, What,
    batches::Options,
    by_header::{property, synonym},
    columns::Column,
    headers::{DAYS, END_DAYS, ROOMS, START_DAYS, TIMES, folded, has},
    status::Rule,
    survey::Survey,
};
use crate::types::{
    error::{Error, Result},
    text::shortened,
};

impl Columns {
    /// The columns as the cells below them and the options of an import decide: a column with one value for all is no
    /// code, dates have one order, and what rows lack is set.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for options that name what is not there.
    pub fn settled(mut self, survey: &Survey, options: &Options) -> Result<Self> {
        if self.is_table() && !self.is_ours {
            let no_codes = self.no_codes(survey, options);
            if !no_codes.is_empty() {
                let headers = self.columns.iter().map(|column| column.header.clone());
                let headers: Vec<_> = headers.collect();
                self = Self::matched(self.what, &headers, &[&options.map[..], &no_codes].concat())?;
            }
            self.judge(survey, options)?;
        } else if !options.status.is_empty() {
            return Err(Error::invalid("--status: this list has no such column"));
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.dates = options.dates.or_else(|| survey.column(at).order());
            column.is_rounded = survey.column(at).rounded > 0;
        }
        self.set_values(options)?;
        self.numbers = options.numbers;
        self.hidden_rows = options.hidden_rows;
        self.is_spreadsheet = survey.is_spreadsheet;
        Ok(self)
    }

    /// The mappings of columns whose headers mean codes, but whose cells are none.
    fn no_codes(&self, survey: &Survey, options: &Options) -> Vec<Mapping> {
        let is_none = |(at, column): &(usize, &Column)| {
            let mut mappings = options.map.iter();
            let is_guessed = !mappings.any(|mapping| mapping.means(&column.header));
            let is_tag = folded(&column.header) != "tag" || survey.column(*at).is_hex;
            let is_one = survey.is_constant(*at) && !column.target.is_place();
            column.target.is_code() && is_guessed && (is_one || !is_tag)
        };
        let columns = self.columns.iter().enumerate().filter(is_none);
        columns
            .map(|(_, column)| Target::unmatched_mapping(self.what, &column.header))
            .collect()
    }

    /// Finds the columns that say of tickets whether they are good.
    fn judge(&mut self, survey: &Survey, options: &Options) -> Result<()> {
        for rule in &options.status {
            if !self.columns.iter().any(|column| rule.means(&column.header)) {
                return Err(Error::invalid(format!(
                    "--status: there is no column \"{}\"",
                    shortened(&rule.0)
                )));
            }
            if self.what != What::Delegates {
                return Err(Error::invalid("--status: only delegates have tickets"));
            }
        }
        if self.what == What::Delegates {
            for (at, column) in self.columns.iter_mut().enumerate() {
                let mut rules = options.status.iter();
                let named = rules.find(|rule| rule.means(&column.header));
                let rule = named.map_or_else(Rule::default, |rule| rule.1);
                column.status = survey.column(at).manner.map(|manner| (manner, rule));
            }
        }
        Ok(())
    }

    /// Notes the values of rows that have none of their own.
    fn set_values(&mut self, options: &Options) -> Result<()> {
        for constant in &options.set {
            let target = constant.target(self.what)?;
            self.set
                .push((Column::new("--set", target), constant.1.clone()));
        }
        let is_room = |column: &Column| {
            has(ROOMS, &folded(&column.header)) && column.target.name().as_deref() == Some("name")
        };
        let kind = if self.has_room() {
            "session"
        } else if self.what == What::Devices && self.columns.iter().any(is_room) {
            "room"
        } else {
            return Ok(());
        };
        if !self.has_any(&["deviceType"])
            && let Some(target) = property(self.what, "deviceType")
        {
            self.set.push((Column::new("", target), kind.to_owned()));
            self.implied_type = Some(kind);
        }
        Ok(())
    }

    /// Returns whether rows name rooms, which are created where they are not there.
    pub(super) fn has_room(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.target == Target::Room)
    }
}

/// Finds columns of days, where others have the times of day that belong to them.
pub(super) fn find_days(what: What, headers: &[String], targets: &mut [Option<Target>]) {
    let find = |words: &str| {
        headers
            .iter()
            .position(|header| has(words, &folded(header)))
    };
    let pairs: &[(&str, &'static [&'static str])] = match what {
        What::Delegates => return,
        What::Interactions => &[(DAYS, &["recordedAt"])],
        What::Devices => &[
            (START_DAYS, &["startAt"]),
            (END_DAYS, &["endAt"]),
            (DAYS, &["startAt", "endAt"]),
        ],
    };
    for (days, times) in pairs {
        let is_of_time = |header: &String| {
            let target = property(what, header).or_else(|| synonym(what, header));
            let name = target.and_then(|target| target.name());
            name.is_some_and(|name| times.contains(&name.as_str()))
        };
        let Some(day) = find(days).filter(|day| targets[*day].is_none()) else {
            continue;
        };
        let mut others = (0..headers.len()).filter(|at| *at != day);
        if others.clone().any(|at| is_of_time(&headers[at])) {
            targets[day] = Some(Target::Days(times));
        } else if let Some(time) = others.find(|at| has(TIMES, &folded(&headers[*at])))
            && targets[time]
                .as_ref()
                .is_none_or(|known| known.name().as_deref() == Some(times[0]))
        {
            targets[day] = Some(Target::Days(times));
            targets[time] = property(what, times[0]);
        }
    }
}
