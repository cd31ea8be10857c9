//! Gates and other apps that need somebody.

use super::{Item, Urgency};
use crate::admin::prelude::*;
use crate::{
    admin::{gates::words, layout::number},
    domain::{
        apps::state,
        gate::fleet::{Gate, Problem},
    },
    identity::ConsoleRole,
};

/// Gates with the same trouble that are told one by one.
const GATES_MAX: usize = 3;
/// A gate that is silent for longer is not in use any more.
const FORGOTTEN_MS: i64 = 12 * 3_600_000;

/// Gates with trouble; many with the same in one line.
pub(super) fn of_gates(gates: &[Gate], layout: &Layout, now: Timestamp) -> Vec<Item> {
    let is_used = |gate: &&Gate| gate.seen_at.is_some_and(|at| now.0 - at.0 < FORGOTTEN_MS);
    let (silent, others): (Vec<&Gate>, Vec<&Gate>) = gates
        .iter()
        .filter(is_used)
        .partition(|gate| !gate.is_online);
    let mut items = Vec::new();
    if silent.len() > GATES_MAX {
        let names: Vec<_> = silent
            .iter()
            .take(GATES_MAX)
            .map(|gate| gate.name.as_str())
            .collect();
        let waiting: i64 = silent.iter().map(|gate| gate.report.queue).sum();
        let mut help = format!(
            "{} and {} more.",
            names.join(", "),
            silent.len() - GATES_MAX
        );
        if waiting > 0 {
            help = format!("{help} {} scans wait on them.", number(waiting));
        }
        items.push(
            Item::new(
                "gates",
                Urgency::Now,
                "offline",
                format!("{} gates", silent.len()),
            )
            .text("have no contact")
            .help(help)
            .go(ConsoleRole::Operator, "Show gates", "/console/gates"),
        );
    } else {
        items.extend(silent.iter().filter_map(|gate| trouble(gate, layout)));
    }
    items.extend(others.iter().filter_map(|gate| trouble(gate, layout)));
    items
}

/// Tells what is wrong with a gate, if somebody has to look after it.
fn trouble(gate: &Gate, layout: &Layout) -> Option<Item> {
    let matters = |problem: &&Problem| {
        problem.is_bad() || matches!(problem, Problem::LowBattery(_) | Problem::Clock(_))
    };
    let mut problems = gate.problems.iter().filter(matters);
    let worst = *problems.next()?;
    let others: Vec<_> = problems
        .map(|problem| words::problem(*problem, layout))
        .collect();
    let (icon, text) = match worst {
        Problem::Offline(since) => (
            "offline",
            format!("has no contact since {}", layout.clock(&since)),
        ),
        Problem::LowBattery(percent) => ("battery", format!("has {percent} % battery")),
        other => (
            "warn",
            format!(
                "needs a look: {}",
                uncapital(&words::problem(other, layout))
            ),
        ),
    };
    let urgency = if worst.is_bad() {
        Urgency::Now
    } else {
        Urgency::Soon
    };
    let item = Item::named(format!("gate-{}", gate.device), urgency, icon, &gate.name);
    let path = format!("/console/gates#gate-{}", gate.device);
    Some(
        item.text(text)
            .help(others.join(" · "))
            .go(ConsoleRole::Operator, "Show gate", path),
    )
}

fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Apps other than gates whose battery is nearly empty.
pub(super) fn of_apps(
    connection: &Connection,
    gates: &[Gate],
    now: Timestamp,
) -> Result<Vec<Item>> {
    let is_gate = |app: &state::Running| gates.iter().any(|gate| gate.device.0 == app.id);
    let low = state::running(connection, now)?.into_iter();
    let low = low.filter(|app| app.online && app.low() && !is_gate(app));
    let item = |app: state::Running| {
        let text = format!("has {} % battery", app.battery.unwrap_or_default());
        let path = format!("/console/devices/{}", app.id);
        Item::named(
            format!("app-{}", app.id),
            Urgency::Soon,
            "battery",
            app.name,
        )
        .text(text)
        .go(ConsoleRole::Viewer, "Show device", path)
    };
    Ok(low.map(item).collect())
}
