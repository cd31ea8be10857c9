//! The columns of a table, each matched with what it holds.

use super::{
    table::Row,
    target::{Mapping, Target, property, synonym},
};
use crate::{
    error::{Error, Result},
    types::text::shortened,
};
use serde_json::{Map, Value};

/// A column.
#[derive(Clone)]
pub struct Column {
    /// Its header.
    pub header: String,
    /// What it holds.
    pub target: Target,
}

/// The columns of a table, in their order.
#[derive(Clone)]
pub struct Columns(Vec<Column>);

impl Columns {
    /// Matches headers: mappings first, then the properties' names, then what else they are often
    /// called; what is left goes to `data.Data` under its header.
    ///
    /// # Errors
    /// [`crate::error::Kind::Invalid`] for a header or a property that stands twice, a mapping of a
    /// header that is not there, and a table without any property of a delegate.
    pub fn new(headers: &[String], mappings: &[Mapping]) -> Result<Self> {
        check_headers(headers)?;
        let mut targets = mapped(headers, mappings)?;
        for find in [property, synonym] {
            for (at, header) in headers.iter().enumerate() {
                if targets[at].is_none()
                    && let Some(property) = find(header)
                    && !targets.iter().flatten().any(|target| target.is(property))
                {
                    targets[at] = Some(Target::Property(property));
                }
            }
        }
        let columns: Vec<Column> = headers
            .iter()
            .zip(targets)
            .map(|(header, target)| Column {
                header: header.clone(),
                target: target.unwrap_or_else(|| Target::unmatched(header)),
            })
            .collect();
        check_targets(&columns)?;
        Ok(Self(columns))
    }

    /// The columns.
    pub fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// A row as the body of a delegate; cells without a value are left out.
    #[must_use]
    pub fn body(&self, row: &Row) -> Map<String, Value> {
        let mut body = Map::new();
        let mut data = Map::new();
        for (at, column) in self.0.iter().enumerate() {
            let value = row.value(at);
            if value.is_empty() {
                continue;
            }
            match &column.target {
                Target::Property(property) => {
                    body.insert(property.name.to_owned(), value.into());
                }
                Target::Data { section, key } => {
                    let section = data.entry(section).or_insert_with(|| Map::new().into());
                    section[key] = value.into();
                }
                Target::Skipped | Target::Nameless => {}
            }
        }
        if !data.is_empty() {
            body.insert("data".into(), data.into());
        }
        body
    }
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

fn mapped(headers: &[String], mappings: &[Mapping]) -> Result<Vec<Option<Target>>> {
    let mut targets = vec![None; headers.len()];
    for mapping in mappings {
        let exact = headers.iter().position(|header| *header == mapping.header);
        let at = exact
            .or_else(|| headers.iter().position(|header| mapping.means(header)))
            .ok_or_else(|| {
                Error::invalid(format!(
                    "--map: there is no column \"{}\"; there are {}",
                    shortened(&mapping.header),
                    quoted(headers)
                ))
            })?;
        if targets[at].is_some() {
            return Err(Error::invalid(format!(
                "--map: the column \"{}\" is mapped twice",
                shortened(&headers[at])
            )));
        }
        targets[at] = Some(mapping.target.clone());
    }
    Ok(targets)
}

fn check_targets(columns: &[Column]) -> Result<()> {
    for (at, column) in columns.iter().enumerate() {
        let Some(name) = column.target.name() else {
            continue;
        };
        let earlier = columns[..at]
            .iter()
            .find(|earlier| earlier.target.name().as_ref() == Some(&name));
        if let Some(earlier) = earlier {
            return Err(Error::invalid(format!(
                "the columns \"{}\" and \"{}\" are both {name}; skip one with --map \"{1}=\"",
                shortened(&earlier.header),
                shortened(&column.header)
            )));
        }
    }
    let known = |column: &Column| matches!(column.target, Target::Property(_));
    if !columns.iter().any(known) {
        let headers: Vec<_> = columns.iter().map(|column| column.header.clone()).collect();
        return Err(Error::invalid(format!(
            "no column is known as a property of a delegate; name one with --map, such as --map \"{}=barcode\"; there are {}",
            shortened(&headers[0]),
            quoted(&headers)
        )));
    }
    Ok(())
}

fn quoted(headers: &[String]) -> String {
    let named = headers.iter().filter(|header| !header.is_empty());
    let quoted: Vec<_> = named
        .map(|header| format!("\"{}\"", shortened(header)))
        .collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Table;

    fn columns(headers: &[&str], mappings: &[&str]) -> Result<Vec<Option<String>>> {
        let headers: Vec<_> = headers.iter().map(ToString::to_string).collect();
        let mappings: Vec<_> = mappings
            .iter()
            .map(|mapping| Mapping::parse(mapping).unwrap())
            .collect();
        let columns = Columns::new(&headers, &mappings)?;
        Ok(columns.iter().map(|column| column.target.name()).collect())
    }

    #[test]
    fn headers_are_matched_however_they_are_written() {
        for (header, name) in [
            ("E-mail", "email"),
            ("EMAIL ADDRESS", "email"),
            ("First name", "firstName"),
            ("first_name", "firstName"),
            ("Surname", "lastName"),
            ("Company", "company"),
            ("Organisation", "company"),
            ("Job title", "jobTitle"),
            ("Mobile", "phone"),
            ("Ticket code", "barcode"),
            ("Ticket type", "delegateType"),
            ("External ID", "externalId"),
            ("UHF-ID", "uhfId"),
            ("raw flags", "rawFlags"),
            ("Diet", "data.Data.Diet"),
            ("ID", "data.Data.ID"),
            ("data.Badge.colour", "data.Badge.colour"),
            ("data.x", "data.Data.data.x"),
        ] {
            let found = columns(&[header, "slug"], &[]).unwrap();
            assert_eq!(found[0].as_deref(), Some(name), "{header}");
        }
    }

    #[test]
    fn a_mapping_goes_before_a_name_and_a_name_before_a_synonym() {
        for (headers, mappings, expected) in [
            (["Mobile", "Phone"], vec![], ["data.Data.Mobile", "phone"]),
            (
                ["Telephone", "Mobile"],
                vec![],
                ["phone", "data.Data.Mobile"],
            ),
            (
                ["Phone", "Mobile"],
                vec!["mobile=phone"],
                ["data.Data.Phone", "phone"],
            ),
            (
                ["Barcode", "a=b"],
                vec!["a=b=data.X.y"],
                ["barcode", "data.X.y"],
            ),
            (["code", "§"], vec!["§=slug"], ["code", "slug"]),
        ] {
            let found = columns(&headers, &mappings).unwrap();
            let found: Vec<_> = found.into_iter().flatten().collect();
            assert_eq!(found, expected, "{headers:?} {mappings:?}");
        }
        assert_eq!(
            columns(&["code", "", "x"], &["X="]).unwrap(),
            [Some("code".to_owned()), None, None]
        );
    }

    #[test]
    fn columns_that_cannot_be_told_apart_are_refused() {
        for (headers, mappings, told) in [
            (["code", "code"], vec![], "stands twice"),
            (["code", "a\0"], vec![], "NUL"),
            (["code", "x"], vec!["y=slug"], "there is no column \"y\""),
            (["code", "x"], vec!["x=slug", "X=rfid"], "mapped twice"),
            (["a", "b"], vec!["a=slug", "b=slug"], "are both slug"),
            (["a", "b"], vec![], "no column is known"),
        ] {
            let refused = columns(&headers, &mappings).unwrap_err().message;
            assert!(refused.contains(told), "{refused}");
        }
    }

    #[test]
    fn a_row_becomes_a_body() {
        let table = Table::parse(b"Barcode,Email,Diet,x\nA1,, vegan ,'=1\n".to_vec()).unwrap();
        let columns =
            Columns::new(table.header(), &[Mapping::parse("x=data.S.k").unwrap()]).unwrap();
        let row = table.rows().next().unwrap().unwrap();
        let expected = serde_json::json!({
            "barcode": "A1",
            "data": {"Data": {"Diet": "vegan"}, "S": {"k": "=1"}},
        });
        assert_eq!(Value::Object(columns.body(&row)), expected);
    }
}
