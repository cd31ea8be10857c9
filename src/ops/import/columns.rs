//! The columns of a table, each matched with what it holds, and rows as bodies such as the API
//! takes.

use super::{
    Mapping, Target, What,
    by_header::{FINDERS, Finder, beside},
    choice::{HiddenRows, Numbers},
    dates::Order,
    settle::find_days,
    shops::Shop,
    source::{OURS, Source},
    status::{Manner, Rule},
};
use crate::types::{
    error::{Error, Result},
    text::shortened,
};

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The header.
    pub header: String,
    /// The property that it holds.
    pub target: Target,
    /// The order of its dates, where it is known.
    pub dates: Option<Order>,
    /// The manner in which it says whether tickets are good, and the treatment of those that are not.
    pub status: Option<(Manner, Rule)>,
    /// A spreadsheet rounded some of its numbers.
    pub is_rounded: bool,
}

impl Column {
    pub(super) fn new(header: &str, target: Target) -> Self {
        Self {
            header: header.to_owned(),
            target,
            dates: None,
            status: None,
            is_rounded: false,
        }
    }
}

/// The columns of a table, in their order; none of a JSON file, whose objects are bodies already.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub(super) what: What,
    pub(super) columns: Vec<Column>,
    /// Set where the rows are events, under the names that events have.
    pub events: bool,
    /// The shop whose list it is.
    pub shop: Option<&'static Shop>,
    /// Values of rows that have none of their own.
    pub(super) set: Vec<(Column, String)>,
    /// The type of devices that is set because the list has none.
    pub implied_type: Option<&'static str>,
    pub(super) numbers: Option<Numbers>,
    pub(super) hidden_rows: Option<HiddenRows>,
    /// Gatepost exported the list.
    pub(super) is_ours: bool,
    /// Notes may stand beside a list of a spreadsheet.
    pub(super) is_spreadsheet: bool,
}

impl Columns {
    /// Matches the headers of a file: mappings first, then the properties' names, then what else
    /// they are often called; what is left goes to `data` under its header. In a file that
    /// Gatepost exported, names are meant exactly.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a duplicate header or property, a mapping of an unknown
    /// header, and a table without any known property.
    pub fn of(what: What, source: &Source, mappings: &[Mapping]) -> Result<Self> {
        match source.header() {
            Some(headers) => Self::new(what, headers, mappings, source.other_sheets()),
            None if !mappings.is_empty() => Err(Error::invalid(
                "--map: the objects of a JSON file have the names that the API has",
            )),
            None => Ok(Self {
                what,
                ..Self::default()
            }),
        }
    }

    /// Matches the headers of a table, which may have other sheets beside it; see [`Columns::of`].
    pub fn new(
        what: What,
        headers: &[String],
        mappings: &[Mapping],
        other_sheets: Option<String>,
    ) -> Result<Self> {
        let columns = Self::matched(what, headers, mappings)?;
        match columns.misfit() {
            // Somebody said what the columns are.
            Some(Misfit::NoneKnown) if mappings.iter().any(|one| !one.1.is_empty()) => Ok(columns),
            Some(misfit) => {
                let elsewhere = other_sheets
                    .filter(|_| misfit == Misfit::NoneKnown)
                    .map(|sheets| format!("; there are other sheets, for --sheet: {sheets}"));
                let message = misfit.message(what, headers);
                Err(Error::invalid(message + &elsewhere.unwrap_or_default()))
            }
            None => Ok(columns),
        }
    }

    /// Matches the headers of a table for a person who may still mend what [`Columns::misfit`] finds.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a duplicate header and for an unusable mapping.
    pub fn matched(what: What, headers: &[String], mappings: &[Mapping]) -> Result<Self> {
        check_headers(headers)?;
        let mut targets = mapped(what, headers, mappings)?;
        let ours = headers.iter().any(|header| header == OURS);
        let shop = Shop::of(what, headers).filter(|_| !ours);
        fill(headers, &mut targets, |header, known| {
            let target = shop?.target(header)?;
            (target == Target::Note || !is_taken(known, &target)).then_some(target)
        });
        if !ours {
            find_days(what, headers, &mut targets);
        }
        let finders = if ours {
            &[Target::of_ours as Finder]
        } else {
            FINDERS
        };
        for find in finders {
            fill(headers, &mut targets, |header, known| {
                find(what, header).filter(|target| !is_taken(known, target))
            });
        }
        if !ours {
            fill(headers, &mut targets, |header, known| {
                beside(what, header, known)
            });
        }
        let columns = headers.iter().zip(targets).map(|(header, target)| {
            let target = target.unwrap_or_else(|| Target::unmatched(what, header));
            Column::new(header, target)
        });
        Ok(Self {
            what,
            columns: columns.collect(),
            events: ours && headers.iter().any(|header| header == "eventName"),
            shop,
            is_ours: ours,
            ..Self::default()
        })
    }

    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter()
    }

    /// Tells whether there are any: a JSON file has none.
    #[must_use]
    pub fn is_table(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Tells whether a column is one of these properties; a JSON file has no columns.
    #[must_use]
    pub fn has_any(&self, names: &[&str]) -> bool {
        let mut own = self.columns.iter().filter_map(|one| one.target.name());
        own.any(|own| names.contains(&own.as_str()))
    }

    /// The reason why rows of these columns cannot be imported.
    #[must_use]
    pub fn misfit(&self) -> Option<Misfit> {
        for (at, column) in self.columns.iter().enumerate() {
            let Some(name) = column.target.name() else {
                continue;
            };
            let earlier = self.columns[..at]
                .iter()
                .find(|earlier| earlier.target.name().as_ref() == Some(&name));
            let earlier = earlier.filter(|_| column.target != Target::Note);
            if let Some(earlier) = earlier {
                let (first, second) = (shortened(&earlier.header), shortened(&column.header));
                return Some(Misfit::Both(first, second, name));
            }
        }
        let known = |column: &Column| {
            matches!(
                column.target,
                Target::Property { .. } | Target::Participant { .. } | Target::WholeName
            )
        };
        (!self.columns.is_empty() && !self.columns.iter().any(known)).then_some(Misfit::NoneKnown)
    }

    /// The header of the column that an error is about, by its field.
    #[must_use]
    pub fn header_of(&self, cause: &Error) -> Option<String> {
        let name = cause.field.first()?;
        let of_name = |column: &&Column| column.target.name().is_some_and(|own| own == *name);
        let column = self.columns.iter().find(of_name)?;
        Some(column.header.clone())
    }
}

/// Finds the contents of the columns that are not known yet, each beside those known by then.
fn fill(
    headers: &[String],
    targets: &mut [Option<Target>],
    find: impl Fn(&str, &[Option<Target>]) -> Option<Target>,
) {
    for (at, header) in headers.iter().enumerate() {
        if targets[at].is_none() {
            targets[at] = find(header, targets);
        }
    }
}

fn is_taken(targets: &[Option<Target>], target: &Target) -> bool {
    let mut taken = targets.iter().flatten().filter_map(Target::name);
    taken.any(|name| Some(name) == target.name())
}

fn check_headers(headers: &[String]) -> Result<()> {
    for (at, header) in headers.iter().enumerate() {
        if header.contains('\0') {
            return Err(Error::invalid(format!(
                "the header of column {} contains a NUL character",
                at + 1
            )));
        }
        if !header.is_empty() && headers[..at].contains(header) {
            return Err(Error::invalid(format!(
                "the header \"{}\" stands twice; rename one of the columns",
                shortened(header)
            )));
        }
    }
    Ok(())
}

fn mapped(what: What, headers: &[String], mappings: &[Mapping]) -> Result<Vec<Option<Target>>> {
    let mut targets = vec![None; headers.len()];
    for mapping in mappings {
        let exact = headers.iter().position(|header| *header == mapping.0);
        let at = exact
            .or_else(|| headers.iter().position(|header| mapping.means(header)))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "--map: there is no column \"{}\"; there are {}",
                    shortened(&mapping.0),
                    quoted(headers)
                ))
            })?;
        if targets[at].is_some() {
            return Err(Error::invalid(format!(
                "--map: the column \"{}\" is mapped twice",
                shortened(&headers[at])
            )));
        }
        targets[at] = Some(Target::parse(what, &mapping.1)?);
    }
    Ok(targets)
}

/// The reason why the columns of a table cannot be imported as they are matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// Columns of these two headers are the same property.
    Both(String, String, String),
    /// No column is a property.
    NoneKnown,
}

impl Misfit {
    /// The message of the command line.
    fn message(&self, what: What, headers: &[String]) -> String {
        match self {
            Self::Both(first, second, name) => format!(
                "the columns \"{first}\" and \"{second}\" are both {name}; skip one with --map \"{second}=\""
            ),
            Self::NoneKnown => format!(
                "no column is known as a property of {}; name the row of the header with --header-row, or a column with --map, such as --map \"{}={}\"; there are {}",
                what.name(),
                headers
                    .first()
                    .map_or_else(String::new, |header| shortened(header)),
                what.example(),
                quoted(headers)
            ),
        }
    }
}

fn quoted(headers: &[String]) -> String {
    let named = headers.iter().filter(|header| !header.is_empty());
    let quoted: Vec<_> = named
        .take(30)
        .map(|header| format!("\"{}\"", shortened(header)))
        .collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests;
