//! The trouble with a gate, an app or a reader in words, and what to do first.

use crate::{
    admin::Layout,
    core::texts::{say, t, tx},
    domain::{
        apps::OfflinePolicy,
        gate::fleet::{Gate, Problem},
        readers::{
            service::Shown,
            state::{Connection as Connected, ReaderState},
        },
    },
    types::Timestamp,
};

/// A clock that is off by so much needs somebody.
const CLOCK_MS: i64 = 60_000;

/// `45 s`, `20 min`, `3 h`.
pub fn span(ms: i64) -> String {
    let (key, count) = match ms / 1000 {
        seconds @ ..120 => ("gates-seconds", seconds),
        seconds @ 120..7_200 => ("gates-minutes", seconds / 60),
        seconds => ("gates-hours", seconds / 3600),
    };
    tx(key).with("count", count).to_string()
}

/// `12 s ago`; never in the future, whatever the clocks say.
pub fn since(at: Timestamp) -> String {
    let span = span((Timestamp::now().0 - at.0).max(0));
    tx("gates-ago").with("span", span).to_string()
}

/// Tells in words how far a clock is off; empty where nobody knows.
pub fn clock(ahead_ms: Option<i64>) -> String {
    match ahead_ms {
        Some(ahead) if ahead.abs() >= 2_000 => {
            let key = if ahead > 0 {
                "gates-fast"
            } else {
                "gates-slow"
            };
            tx(key).with("span", span(ahead.abs())).to_string()
        }
        Some(_) => span(0),
        None => String::new(),
    }
}

pub fn problem(problem: Problem, layout: &Layout) -> String {
    let text = match problem {
        Problem::NeverSeen => tx("gates-not-connected-yet"),
        Problem::Offline(since) => tx("gates-no-contact-since").with("at", layout.clock(&since)),
        Problem::FailedUploads(count) => {
            tx("gates-uploads-failed").with("count", layout.number(&count))
        }
        Problem::Waiting(count, None) => {
            tx("gates-scans-wait").with("count", layout.number(&count))
        }
        Problem::Waiting(count, Some(at)) => tx("gates-scans-wait-since")
            .with("count", layout.number(&count))
            .with("at", layout.clock(&at)),
        Problem::NoList => tx("gates-no-list-yet"),
        Problem::OldList(at) => tx("gates-old-list").with("span", span(Timestamp::now().0 - at.0)),
        Problem::NoPlace => tx("gates-no-place-chosen"),
        Problem::LostPlace => tx("gates-its-place-is-gone"),
        Problem::OtherPlace => tx("gates-not-at-its-place"),
        Problem::LowBattery(percent) => tx("gates-low-battery").with("percent", percent),
        Problem::Clock(behind) => tx("gates-clock-is-off").with("off", clock(Some(-behind))),
        Problem::Hidden => tx("gates-app-not-on-the-screen"),
        Problem::OtherSettings(version) => tx("gates-other-settings").with("version", version),
        Problem::OtherVersion => tx("gates-app-not-up-to-date"),
    };
    text.to_string()
}

/// The symbol of a problem.
pub fn symbol(problem: Problem) -> &'static str {
    match problem {
        Problem::Offline(_) | Problem::NeverSeen => "offline",
        Problem::LowBattery(_) => "battery",
        Problem::Clock(_) | Problem::OldList(_) => "clock",
        Problem::NoPlace | Problem::LostPlace | Problem::OtherPlace => "places",
        _ => "warn",
    }
}

/// Tells what to do first, or what the crew need not fear.
pub fn advice(gate: &Gate, problem: Problem, layout: &Layout) -> String {
    let told = match problem {
        Problem::NeverSeen if gate.is_gate => "Open /gate on the device and finish its set-up.",
        Problem::NeverSeen => "Open the app on the device.",
        Problem::Offline(_) if gate.is_gate => return offline(gate, layout),
        Problem::Offline(_) => "Look whether the app is open, and at its network.",
        Problem::FailedUploads(_) => "The server refused them. The device shows which, and why.",
        Problem::Waiting(..) => "Keep the app open until the number is gone.",
        Problem::NoList => {
            "Without the server it can judge nobody. Look at its network, and whether its place is one of its own."
        }
        Problem::OldList(_) => "Without the server it judges by this list. Look at its network.",
        Problem::NoPlace => "Choose one here. The gate follows at its next contact.",
        Problem::LostPlace => "Choose another one here: nobody can be checked in there.",
        Problem::OtherPlace => {
            let set = gate.set_place.as_deref().unwrap_or_default();
            return tx("gates-other-place-is-set").with("set", set).to_string();
        }
        Problem::LowBattery(_) => "Bring a charger.",
        Problem::Clock(_) if gate.is_gate => {
            "The gate corrects its times by the server. Set its clock all the same."
        }
        Problem::Clock(_) => "Set its clock: scans made offline get wrong times.",
        Problem::Hidden => "Somebody switched to another app. Bring the gate back to the screen.",
        Problem::OtherSettings(_) => "Reload the app.",
        Problem::OtherVersion => "Reload the page of the gate while no scans wait.",
    };
    say(told)
}

fn offline(gate: &Gate, layout: &Layout) -> String {
    let report = &gate.report;
    let waiting = match report.queue {
        0 => String::new(),
        count => {
            let count = layout.number(&count);
            format!("{} ", tx("gates-scans-wait-on-it").with("count", count))
        }
    };
    let list = report.list_at.map(|at| {
        let at = layout.clock(&at);
        format!(" {}", tx("gates-list-of").with("at", at))
    });
    let key = match gate.policy {
        OfflinePolicy::Admit => "gates-admits-by-its-list",
        OfflinePolicy::JoinedOnly => "gates-admits-registered-by-its-list",
        OfflinePolicy::Hold => "gates-admits-nobody",
    };
    let admits = tx(key).with("list", list.unwrap_or_default());
    format!(
        "{waiting}{admits} {}",
        t("gates-look-at-network-and-screen")
    )
}

/// Tells what is wrong with a reader, whether somebody has to look after it now, and what to do.
pub fn of_reader(reader: &Shown, layout: &Layout) -> Vec<(bool, String, String)> {
    let ReaderState {
        connection,
        last_read,
        clock_offset_ms,
        antennas,
        ..
    } = &reader.state;
    let mut told = Vec::new();
    let mut add = |is_bad, what: String, advice: &str| told.push((is_bad, say(what), say(advice)));
    match connection {
        Connected::Down { reason, .. } => {
            let since = reader.state.since;
            let what = match since {
                Some(at) => tx("gates-cannot-be-reached-since").with("at", layout.clock(&at)),
                None => tx("gates-cannot-be-reached"),
            };
            let advice = format!("{} {}", say(reason), t("gates-look-at-power-and-cable"));
            add(true, what.to_string(), &advice);
        }
        Connected::Waiting if last_read.is_none() => {
            let advice = "It has to send its reads to this server: look at its set-up.";
            add(false, "No reads yet".to_owned(), advice);
        }
        _ => {}
    }
    let watched = reader.config.setup.antennas.iter();
    for antenna in watched.map(|one| one.antenna) {
        let state = antennas.get(&antenna);
        if state.is_some_and(|state| state.is_connected == Some(false)) {
            let what = format!("Antenna {antenna} is not connected");
            add(true, what, "Look at its cable.");
        }
    }
    let ahead = clock_offset_ms.filter(|ahead| ahead.abs() >= CLOCK_MS);
    if ahead.is_some() {
        let advice = "The server corrects its times. Set its clock all the same.";
        let what = tx("gates-clock-is-off").with("off", clock(ahead));
        add(false, what.to_string(), advice);
    }
    told.sort_by_key(|(is_bad, ..)| !is_bad);
    told
}
