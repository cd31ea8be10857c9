//! The columns of a table as the cells below them, and the options of an import, decide.

use super::{
    Columns, Mapping, Target, What,
    batches::Options,
    columns::{Column, Judge},
    headers::{DAYS, END_DAYS, ROOMS, START_DAYS, TIMES, folded, has},
    source::Source,
    status::Rule,
    survey::Survey,
    target::{property, synonym},
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
    pub fn settled(mut self, source: &Source, survey: &Survey, options: &Options) -> Result<Self> {
        let what = self.what;
        if let Some(headers) = source.header().filter(|_| !source.is_ours()) {
            let is_mapped = |header: &str| options.map.iter().any(|mapping| mapping.means(header));
            let no_codes: Vec<Mapping> = self
                .columns
                .iter()
                .enumerate()
                .filter(|(at, column)| {
                    let is_guessed = column.target.is_code() && !is_mapped(&column.header);
                    let is_tag = folded(&column.header) != "tag" || survey.column(*at).is_hex;
                    is_guessed && (survey.is_constant(*at) || !is_tag)
                })
                .map(|(_, column)| Target::unmatched_mapping(what, &column.header))
                .collect();
            if !no_codes.is_empty() {
                let mappings = [&options.map[..], &no_codes].concat();
                self = Self::matched(what, headers, &mappings)?;
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
        self.is_spreadsheet = source.sheets().is_some();
        Ok(self)
    }

    /// Finds the columns that say of tickets whether they are good.
    fn judge(&mut self, survey: &Survey, options: &Options) -> Result<()> {
        let mut headers = self.columns.iter().map(|column| &column.header);
        if let Some(unknown) = options
            .status
            .iter()
            .find(|rule| !headers.clone().any(|header| rule.means(header)))
        {
            return Err(Error::invalid(format!(
                "--status: there is no column \"{}\"",
                shortened(&unknown.0)
            )));
        }
        if self.what != What::Delegates {
            return match headers.find(|header| options.status.iter().any(|rule| rule.means(header)))
            {
                Some(_) => Err(Error::invalid("--status: only delegates have tickets")),
                None => Ok(()),
            };
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            let named = options
                .status
                .iter()
                .find(|rule| rule.means(&column.header));
            let rule = named.map_or_else(Rule::default, |rule| rule.1);
            let facts = survey.column(at);
            column.status = facts.manner.map(|manner| Judge::new(manner, rule, facts));
        }
        Ok(())
    }

    /// Notes what rows have that say nothing themselves.
    fn set_values(&mut self, options: &Options) -> Result<()> {
        for constant in &options.set {
            let target = constant.target(self.what)?;
            self.set.push(Column::new("--set", target));
            self.values_set.push(constant.1.clone());
        }
        let has_room = self.has_room();
        let is_list_of_rooms = self.what == What::Devices
            && self.columns.iter().any(|column| {
                has(ROOMS, &folded(&column.header))
                    && column.target.name().as_deref() == Some("name")
            });
        if (has_room || is_list_of_rooms)
            && !self.has_any(&["deviceType"])
            && let Some(target) = property(self.what, "deviceType")
        {
            let kind = if has_room { "session" } else { "room" };
            self.set.push(Column::new("", target));
            self.values_set.push(kind.to_owned());
        }
        Ok(())
    }

    /// Returns whether rows name rooms, which are created where they are not there.
    pub(super) fn has_room(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.target == Target::Room)
    }

    /// The type of devices that was set because the list has none.
    #[must_use]
    pub fn implied_type(&self) -> Option<&str> {
        let mut set = self.set.iter().zip(&self.values_set);
        set.find(|(column, _)| column.header.is_empty())
            .map(|(_, value)| value.as_str())
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
