//! What is looked for in the list, as a search.

use crate::{
    admin::Fields,
    core::search::Search,
    domain::{
        delegates::{DELETED, SEARCHED},
        devices,
        interactions::{presence::PresenceChange, types},
    },
    types::{DeviceId, Zone, error::Result},
};
use rusqlite::Connection;
use serde_json::{Value, json};

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub(in crate::admin::delegates) struct Filters {
    /// Words, or a code.
    pub q: String,
    pub(super) kind: String,
    pub(super) flag: String,
    pub(super) device: Option<i64>,
    /// `yes` or `no`: whether they checked in at the device; anywhere, where none is chosen.
    pub(super) been: &'static str,
    pub(super) deleted: bool,
    /// An expression of the search language.
    pub search: String,
}

impl Filters {
    pub(in crate::admin::delegates) fn read(fields: &Fields) -> Self {
        let device = fields.number("device").ok().flatten();
        Self {
            q: fields.text("q").to_owned(),
            kind: fields.text("type").to_owned(),
            flag: fields.text("flag").to_lowercase(),
            device,
            been: match fields.text("been") {
                "no" => "no",
                "yes" => "yes",
                _ if device.is_some() => "yes",
                _ => "",
            },
            deleted: fields.ticked("deleted"),
            search: fields.text("search").to_owned(),
        }
    }

    /// Whether anything is left out.
    pub(in crate::admin::delegates) fn narrow(&self) -> bool {
        self.deleted || !self.query().is_empty()
    }

    /// Whether it is about this device.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates give references"
    )]
    pub(super) fn at(&self, device: &i64) -> bool {
        self.device == Some(*device)
    }

    /// Whether more than the box for words is in use.
    pub(super) fn unfolded(&self) -> bool {
        !self.kind.is_empty() || !self.flag.is_empty() || !self.been.is_empty() || self.deleted
    }

    /// As a query string, without the question mark.
    pub(in crate::admin::delegates) fn query(&self) -> String {
        let device = self.device.map(|id| id.to_string()).unwrap_or_default();
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("q", self.q.as_str()),
            ("type", &self.kind),
            ("flag", &self.flag),
            ("device", &device),
            ("been", self.been),
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

    /// As a search. A check-in below a device is one there, as on the device's page.
    ///
    /// # Errors
    /// [`Kind::InvalidSearch`], with the path to the fault.
    pub(in crate::admin::delegates) fn search(
        &self,
        connection: &Connection,
        zone: &Zone,
    ) -> Result<Search> {
        let own = Search::asked(&SEARCHED, Some(&self.search), zone, None)?;
        let subject = if self.deleted { &*DELETED } else { &*SEARCHED };
        let mut search = Search::everything(subject).and_words(&self.q);
        for filter in self.filters(connection)? {
            search = search.and_search(Search::parse(&SEARCHED, &filter.to_string(), zone, None)?);
        }
        Ok(match own {
            Some(own) => search.and_search(own),
            None => search,
        })
    }

    /// What is chosen beside words, in the search language.
    fn filters(&self, connection: &Connection) -> Result<Vec<Value>> {
        let mut filters = Vec::new();
        if !self.kind.is_empty() {
            filters.push(json!({"==": ["delegateType", self.kind]}));
        }
        if !self.flag.is_empty() {
            filters.push(json!({"*=": ["rawFlags", self.flag]}));
        }
        if !self.been.is_empty() {
            let place = match self.device {
                Some(device) => {
                    let devices = devices::with_below(connection, DeviceId(device))?;
                    json!({"firstDevice": devices})
                }
                None => json!({}),
            };
            let there = |kind| json!({"fi": [kind, place, ">= 1"]});
            let entries: Vec<_> = types::names_of(PresenceChange::Enter).map(there).collect();
            let been = json!({"or": entries});
            filters.push(if self.been == "no" {
                json!({"not": been})
            } else {
                been
            });
        }
        Ok(filters)
    }
}

/// Something to try in the search language.
pub(in crate::admin::delegates) struct Example {
    /// Whom it finds.
    pub(in crate::admin::delegates) about: &'static str,
    /// The expression.
    pub(in crate::admin::delegates) search: &'static str,
}

impl Example {
    pub(in crate::admin::delegates) fn address(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("search", self.search)
            .finish();
        format!("/console/delegates?{query}")
    }
}

pub(in crate::admin::delegates) const EXAMPLES: [Example; 6] = [
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
