//! Parts of the document that follow from one call or two: schemas of sections, statements, reports, badges,
//! the configuration of apps, templates, automations and webhooks.

use super::{Part, planned, read};
use crate::{
    core::{
        outgoing::Reach,
        search::statements::{self, Statement},
        sections::{self, Named},
        settings,
    },
    domain::{
        apps::{
            Document,
            configuration::{publish, published},
        },
        badges,
        messages::{automations, templates},
        printing::{NewPrinter, printers},
        reports::{self, Report},
        webhooks::document as webhooks,
    },
    types::error::{Error, Result},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The schemas of sections of `data`, by kind of record and name. `null` in a schema's place takes it
/// away.
pub(super) const SECTIONS: Part = Part {
    key: "sections",
    help: "Sections: {\"delegate\": {\"Medical\": JSON Schema without $ref}, \"device\": {...}}; null takes a schema away.",
    export: sections::document,
    plan: |store, said, prune| {
        let named: Named = read("sections", said)?;
        sections::check(&named, &store.look_up(sections::all)?)?;
        let count = named.values().map(serde_json::Map::len).sum();
        planned(count, move |tx, ctx| sections::save(tx, ctx, &named, prune))
    },
};

/// A list, matched by name.
pub(super) const STATEMENTS: Part = Part {
    key: "statements",
    help: "Statements: [{\"name\", \"type\": \"delegate\" or \"device\", \"label\", \"sql\"}], each a read-only SELECT of one value over :id.",
    export: |connection| serde_json::to_value(statements::all(connection)?).map_err(Error::defect),
    plan: |store, said, prune| {
        let named: Vec<Statement> = read("statements", said)?;
        for statement in &named {
            statements::check(store.path(), statement)?;
        }
        planned(named.len(), move |tx, ctx| {
            statements::save(tx, ctx, &named, prune)
        })
    },
};

/// A list, matched by dashboard and id.
pub(super) const REPORTS: Part = Part {
    key: "reports",
    help: "Reports: [{\"dashboard\", \"id\", \"label\", \"query\", \"parameters\", \"fixed\", \"api_clients\"}], matched by dashboard and id; query is a read-only SELECT, or in its place \"built\": {\"source\", \"columns\", \"filters\", \"group\", \"numbers\", \"sort\", \"chart\", \"limit\"}.",
    export: |connection| {
        let all = reports::all(connection)?.into_iter();
        let reports: Vec<Report> = all.map(|stored| stored.report).collect();
        serde_json::to_value(reports).map_err(Error::defect)
    },
    plan: |store, said, prune| {
        let named: Vec<Report> = read("reports", said)?;
        let mut known = BTreeSet::new();
        for report in &named {
            let name = format!("reports: {}/{}", report.dashboard, report.id);
            let checked = report.check(store.path());
            checked.map_err(|cause| cause.at(&name))?;
            if !known.insert((&report.dashboard, &report.id)) {
                return Err(Error::field(name, "stands there twice"));
            }
        }
        planned(named.len(), move |tx, ctx| {
            reports::put(tx, ctx, &named, prune)
        })
    },
};

/// A list, matched by name.
pub(super) const BADGES: Part = Part {
    key: "badges",
    help: "Badges: [{\"name\", \"width\", \"height\", \"front\": [{\"kind\": \"text\", \"text\": \"{firstName}\", \"size\", \"x\", \"y\", \"width\", \"height\"}], \"back\", \"fold\", \"types\"}], layouts in millimetres.",
    export: |connection| serde_json::to_value(badges::all(connection)?).map_err(Error::defect),
    plan: |_, said, prune| {
        let named: Vec<badges::Layout> = read("badges", said)?;
        check_each(
            "badges",
            &named,
            badges::check,
            |one, other| one.name == other.name,
            |layout| ("name", &layout.name),
        )?;
        planned(named.len(), move |tx, ctx| {
            badges::save(tx, ctx, &named, prune)
        })
    },
};

/// A list, matched by name.
pub(super) const PRINTERS: Part = Part {
    key: "printers",
    help: "Printers: [{\"name\", \"language\": \"zpl\", \"brother\" or \"ipp\", \"address\", \"dpi\", \"paper\", \"gates\", \"places\", \"byItself\": \"never\", \"first\" or \"each\", \"types\", \"fallback\"}]; gates are ids of clients, places codes.",
    export: |connection| {
        let all = printers::all(connection)?.into_iter();
        let printers: Vec<NewPrinter> = all.map(|printer| printer.is).collect();
        serde_json::to_value(printers).map_err(Error::defect)
    },
    plan: |_, said, prune| {
        let named: Vec<NewPrinter> = read("printers", said)?;
        let check = |printers: &[NewPrinter], reach| {
            check_each(
                "printers",
                printers,
                |printer| printer.check(reach),
                |one, other| one.name == other.name,
                |printer| ("name", &printer.name),
            )
        };
        check(&named, Reach::Local)?;
        planned(named.len(), move |tx, ctx| {
            // The same document may allow what it needs.
            check(&named, settings::load(tx)?.reach)?;
            printers::save(tx, ctx, &named, prune)
        })
    },
};

/// `default` by setting, `byType` and `byDevice` by type and code. It is published.
pub(super) const APP_CONFIG: Part = Part {
    key: "appConfig",
    help: "AppConfig: {\"default\": {...}, \"byType\": {\"regoapp\": {...}}, \"byDevice\": {\"42\": {...}}}; settings of apps, published as a new version where they differ.",
    export: |connection| Ok(published(connection)?.document.masked()),
    plan: |store, said, prune| {
        let is_absent = said.is_none();
        let said = said.unwrap_or_else(|| json!({}));
        let zone = store.look_up(settings::load)?.zone;
        let document = Document::parse("appConfig", &said, &zone)?;
        let named = document.default.len() + document.by_type.len() + document.by_device.len();
        // It takes too long for a thread that others wait for.
        let hashed = document.with_hashed_pins(&store.look_up(published)?.document)?;
        planned(named, move |tx, ctx| {
            if is_absent && !prune {
                return Ok(());
            }
            let document = if is_absent {
                Document::built_in()
            } else {
                // The same document may have set the zone that its times are in.
                let zone = settings::load(tx)?.zone;
                let document = Document::parse("appConfig", &said, &zone)?.with_pins_of(&hashed);
                published(tx)?.document.with(document, prune)
            };
            publish(tx, ctx, &document).map(|_| ())
        })
    },
};

/// A list, matched by type and slug. An e-mail keeps its id where that is free, as apps name it by
/// that.
pub(super) const TEMPLATES: Part = Part {
    key: "templates",
    help: "Templates: [{\"slug\", \"id\", \"type\": \"email\", \"sms\" or \"push\", \"subject\", \"content\", \"html\"}], Jinja over delegate, interaction, settings and now.",
    export: templates::document,
    plan: |_, said, prune| {
        let named: Vec<templates::Entry> = read("templates", said)?;
        check_each(
            "templates",
            &named,
            templates::Entry::check,
            |one, other| (&one.channel, &one.slug) == (&other.channel, &other.slug),
            |entry| ("slug", &entry.slug),
        )?;
        planned(named.len(), move |tx, ctx| {
            templates::apply(tx, ctx, &named, prune)
        })
    },
};

/// A list, matched by name.
pub(super) const AUTOMATIONS: Part = Part {
    key: "automations",
    help: "Automations: [{\"name\", \"interactionType\", \"device\" (code), \"delegateType\", \"type\", \"template\", \"withinMinutes\", \"active\"}].",
    export: automations::document,
    plan: |_, said, prune| {
        let named: Vec<automations::Entry> = read("automations", said)?;
        check_each(
            "automations",
            &named,
            automations::Entry::check,
            |one, other| one.name == other.name,
            |entry| ("name", &entry.name),
        )?;
        planned(named.len(), move |tx, ctx| {
            automations::apply(tx, ctx, &named, prune)
        })
    },
};

/// A list, matched by name.
pub(super) const WEBHOOKS: Part = Part {
    key: "webhooks",
    help: "Webhooks: [{\"name\", \"url\", \"interactions\": [\"check-in\"], \"changes\": [\"delegate.*\"], \"devices\": [codes], \"active\", \"secret\"}]; a secret is taken, never written out.",
    export: webhooks::export,
    plan: |_, said, prune| {
        let named: Vec<Map<String, Value>> = read("webhooks", said)?;
        let entry = |(at, entry)| {
            let entry = webhooks::Entry::read(entry);
            entry.map_err(|cause| cause.below(format!("webhooks[{at}]")))
        };
        let named = named.into_iter().enumerate().map(entry);
        let named: Vec<webhooks::Entry> = named.collect::<Result<_>>()?;
        webhooks::check(&named)?;
        planned(named.len(), move |tx, ctx| {
            webhooks::save(tx, ctx, &named, prune)
        })
    },
};

/// Checks every entry of a list, and that none stands there twice; `name` is the property by which
/// entries differ.
fn check_each<E>(
    key: &str,
    entries: &[E],
    check: impl Fn(&E) -> Result<()>,
    is_same: fn(&E, &E) -> bool,
    name: fn(&E) -> (&'static str, &String),
) -> Result<()> {
    for (at, entry) in entries.iter().enumerate() {
        check(entry).map_err(|cause| cause.below(format!("{key}[{at}]")))?;
        if entries[..at].iter().any(|earlier| is_same(earlier, entry)) {
            let (property, name) = name(entry);
            return Err(Error::field(
                format!("{key}[{at}].{property}"),
                format!("\"{name}\" stands there twice"),
            ));
        }
    }
    Ok(())
}
