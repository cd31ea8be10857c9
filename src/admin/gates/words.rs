//! The trouble with a gate, an app or a reader in words, and what to do first.

use crate::{
    admin::Layout,
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
    match ms / 1000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// `12 s ago`; never in the future, whatever the clocks say.
pub fn since(at: Timestamp) -> String {
    format!("{} ago", span((Timestamp::now().0 - at.0).max(0)))
}

/// Tells in words how far a clock is off; empty where nobody knows.
pub fn clock(ahead_ms: Option<i64>) -> String {
    match ahead_ms {
        Some(ahead) if ahead.abs() >= 2_000 => {
            let side = if ahead > 0 { "fast" } else { "slow" };
            format!("{} {side}", span(ahead.abs()))
        }
        Some(_) => "0 s".to_owned(),
        None => String::new(),
    }
}

fn counted(count: i64, one: &str, several: &str, layout: &Layout) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{} {several}", layout.number(&count)),
    }
}

pub fn problem(problem: Problem, layout: &Layout) -> String {
    match problem {
        Problem::NeverSeen => "Not connected yet".to_owned(),
        Problem::Offline(since) => format!("No contact since {}", layout.clock(&since)),
        Problem::FailedUploads(count) => {
            format!("{} failed", counted(count, "upload", "uploads", layout))
        }
        Problem::Waiting(count, since) => {
            let scans = counted(count, "scan waits", "scans wait", layout);
            let since =
                since.map_or_else(String::new, |at| format!(" since {}", layout.clock(&at)));
            format!("{scans}{since}")
        }
        Problem::NoList => "No list yet".to_owned(),
        Problem::OldList(at) => format!("List {} old", span(Timestamp::now().0 - at.0)),
        Problem::NoPlace => "No place chosen".to_owned(),
        Problem::LostPlace => "Its place is gone".to_owned(),
        Problem::OtherPlace => "Not at the place set for it".to_owned(),
        Problem::LowBattery(percent) => format!("Battery {percent} %"),
        Problem::Clock(behind) => format!("Clock {}", clock(Some(-behind))),
        Problem::Hidden => "App not on the screen".to_owned(),
        Problem::OtherSettings(version) => format!("Settings of version {version} not there yet"),
        Problem::OtherVersion => "App not up to date".to_owned(),
    }
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
            return format!("{set} is set for it; somebody chose another place on the gate.");
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
    told.to_owned()
}

fn offline(gate: &Gate, layout: &Layout) -> String {
    let report = &gate.report;
    let waiting = match report.queue {
        0 => String::new(),
        1 => "1 scan waits on it. ".to_owned(),
        count => format!("{} scans wait on it. ", layout.number(&count)),
    };
    let list = report
        .list_at
        .map_or_else(String::new, |at| format!(" of {}", layout.clock(&at)));
    let admits = match gate.policy {
        OfflinePolicy::Admit => format!("It admits by its list{list}; nothing is lost."),
        OfflinePolicy::JoinedOnly => {
            format!("It admits registered attendees by its list{list}; nothing is lost.")
        }
        OfflinePolicy::Hold => "It admits nobody until the server answers.".to_owned(),
    };
    format!("{waiting}{admits} Look at its network and its screen.")
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
    let mut add = |is_bad, what: String, advice: &str| told.push((is_bad, what, advice.to_owned()));
    match connection {
        Connected::Down { reason, .. } => {
            let since = reader.state.since;
            let since =
                since.map_or_else(String::new, |at| format!(" since {}", layout.clock(&at)));
            let advice = format!("{reason} Look at its power and its cable.");
            add(true, format!("Cannot be reached{since}"), &advice);
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
        add(false, format!("Clock {}", clock(ahead)), advice);
    }
    told.sort_by_key(|(is_bad, ..)| !is_bad);
    told
}
