//! Rules of entry in words a steward understands.

use crate::{
    core::rules::{AccessRules, Entry, Per, RuleSet, TypeList, TypeTimes},
    types::{TimeOfDay, Timestamp, Zone, text::number},
};

/// The ways of counting check-ins, to choose from.
pub const PER: [(&str, &str); 2] = [("", "All days together"), ("day", "Each day anew")];

/// One rule in words.
pub struct RuleText {
    /// The meaning of the rule.
    pub text: String,
    /// Set where the device states it itself; otherwise it is as set for the whole instance.
    pub own: bool,
}

/// Describes rules in force at a device with this time frame.
pub fn in_words(
    own: &AccessRules,
    default: &AccessRules,
    times: (Option<Timestamp>, Option<Timestamp>),
    zone: &Zone,
) -> Vec<RuleText> {
    let rules = own.clone().or(default);
    let mut said = Vec::new();
    let mut say = |text: String, own: bool| said.push(RuleText { text, own });
    say(who(rules.rule_set).to_owned(), own.rule_set.is_some());
    say(entry(rules.entry).to_owned(), own.entry.is_some());
    if let Some(most) = rules.max_check_ins {
        say(most_times(most, rules.per), own.max_check_ins.is_some());
    }
    if let Some(types) = &rules.types {
        say(only(types), own.states_types());
    }
    for entry in rules.type_times.iter().flat_map(TypeTimes::entries) {
        let text = format!("{}: {} only.", listed(&entry.types), entry.hours);
        say(text, own.states_types());
    }
    if let Some(capacity) = rules.capacity {
        say(at_a_time(capacity), own.capacity.is_some());
    }
    if let Some(before) = rules.opens_before {
        say(opens(before, times.0, zone), own.opens_before.is_some());
    }
    if let Some(after) = rules.closes_after {
        say(closes(after, times.1, zone), own.closes_after.is_some());
    }
    if let Some(time) = rules.everybody_out_at {
        say(
            everybody_out(time, rules.everybody_out_except.as_ref()),
            true,
        );
    }
    if rules.one_at_a_time == Some(true) {
        let text = "One room at a time: a check-in at one place below ends the stay in the others.";
        say(text.to_owned(), true);
    }
    if let Some(zone) = &rules.zone {
        say(format!("Zone {zone} on badges."), true);
    }
    said
}

/// Types that a word about a rule names.
const TYPES_NAMED: usize = 2;

/// The rules that a place sets itself, in a few words each.
pub fn tags(own: &AccessRules) -> Vec<String> {
    let mut tags = Vec::new();
    match own.rule_set {
        Some(RuleSet::Open) => tags.push("Open to all".to_owned()),
        Some(RuleSet::Simple) => tags.push("Registered only".to_owned()),
        None => {}
    }
    if let Some(types) = &own.types {
        let names: Vec<_> = types.names().take(TYPES_NAMED).collect();
        tags.push(match types.names().len() {
            0 => "Nobody".to_owned(),
            all if all > TYPES_NAMED => format!("{} +{}", names.join(", "), all - TYPES_NAMED),
            _ => names.join(", "),
        });
    }
    if own
        .type_times
        .as_ref()
        .is_some_and(|times| !times.entries().is_empty())
    {
        tags.push("Times by type".to_owned());
    }
    match own.entry {
        Some(Entry::Single) => tags.push("One entry per ticket".to_owned()),
        Some(Entry::Daily) => tags.push("Once a day".to_owned()),
        Some(Entry::Multiple) => tags.push("Come and go".to_owned()),
        None => {}
    }
    match (own.max_check_ins, own.per) {
        (Some(most), Some(Per::Day)) => tags.push(format!("{most} × a day")),
        (Some(most), None) => tags.push(format!("{most} ×")),
        (None, _) => {}
    }
    if let Some(before) = own.opens_before {
        tags.push(format!("Open {before} min before"));
    }
    if let Some(after) = own.closes_after {
        tags.push(format!("Until {after} min after"));
    }
    if let Some(time) = own.everybody_out_at {
        tags.push(format!("Out at {time}"));
    }
    if own.one_at_a_time == Some(true) {
        tags.push("One room at a time".to_owned());
    }
    if let Some(zone) = &own.zone {
        tags.push(format!("Zone {zone}"));
    }
    tags
}

fn everybody_out(time: TimeOfDay, except: Option<&TypeList>) -> String {
    let names: Vec<_> = except.into_iter().flat_map(TypeList::names).collect();
    match names.as_slice() {
        [] => format!("Everybody leaves at {time}."),
        names => format!("Everybody leaves at {time}, except {}.", names.join(", ")),
    }
}

/// Describes who may enter at all.
pub fn who(rules: Option<RuleSet>) -> &'static str {
    match rules {
        Some(RuleSet::Simple) => "Registered attendees only.",
        Some(RuleSet::Open) | None => "Everybody with a known code may enter.",
    }
}

/// Describes how often one may enter.
pub fn entry(entry: Option<Entry>) -> &'static str {
    match entry {
        Some(Entry::Single) => "Single entry: a ticket enters once until it is checked out.",
        Some(Entry::Daily) => "Daily entry: a ticket enters once a day until it is checked out.",
        Some(Entry::Multiple) | None => {
            "People may come and go: a ticket enters again without being checked out."
        }
    }
}

fn listed(types: &TypeList) -> String {
    types.names().collect::<Vec<_>>().join(", ")
}

fn only(types: &TypeList) -> String {
    match types.names().len() {
        0 => "Nobody is let in: no type of attendee may enter.".to_owned(),
        1 => format!("Attendees of this type only: {}.", listed(types)),
        _ => format!("Attendees of these types only: {}.", listed(types)),
    }
}

fn most_times(most: u32, per: Option<Per>) -> String {
    match (most, per) {
        (0, _) => "Nobody is let in: no check-in is allowed at all.".to_owned(),
        (1, None) => "Each person is let in once and never again.".to_owned(),
        (1, Some(Per::Day)) => "Each person is let in once a day.".to_owned(),
        (most, None) => format!("Each person is let in {most} times at most."),
        (most, Some(Per::Day)) => format!("Each person is let in {most} times a day at most."),
    }
}

fn at_a_time(capacity: u32) -> String {
    match capacity {
        0 => "Nobody is let in: there is room for no one.".to_owned(),
        1 => "One person at a time is inside.".to_owned(),
        capacity => format!(
            "At most {} people are inside at a time.",
            number(capacity.into())
        ),
    }
}

fn minutes(count: u32) -> String {
    match count {
        1 => "1 minute".to_owned(),
        count if count >= 120 && count.is_multiple_of(60) => format!("{} hours", count / 60),
        count => format!("{count} minutes"),
    }
}

fn clock(at: Timestamp, zone: &Zone) -> String {
    let plain = zone.plain(at);
    plain.strip_suffix(":00").unwrap_or(&plain).to_owned()
}

fn opens(before: u32, start: Option<Timestamp>, zone: &Zone) -> String {
    let early = match before {
        0 => "when it starts".to_owned(),
        before => format!("{} before it starts", minutes(before)),
    };
    match start {
        Some(start) => {
            let at = Timestamp(start.0.saturating_sub(i64::from(before) * 60_000));
            format!("Opens {early}: at {}.", clock(at, zone))
        }
        None => format!("Opens {early}; it has no start yet, so it is open before, too."),
    }
}

fn closes(after: u32, end: Option<Timestamp>, zone: &Zone) -> String {
    let late = match after {
        0 => "when it ends".to_owned(),
        after => format!("{} after it ends", minutes(after)),
    };
    match end {
        Some(end) => {
            let at = Timestamp(end.0.saturating_add(i64::from(after) * 60_000));
            format!("Closes {late}: at {}.", clock(at, zone))
        }
        None => format!("Closes {late}; it has no end yet, so it stays open."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rules(value: &Value) -> AccessRules {
        AccessRules::parse("rules", value).unwrap()
    }

    #[test]
    fn each_rule_is_said_with_where_it_comes_from() {
        let own = rules(
            &json!({"entry": "single", "maxCheckIns": 1, "capacity": 1200, "opensBefore": 30}),
        );
        let default = rules(&json!({"ruleSet": "simple", "entry": "multiple", "closesAfter": 120}));
        let zone = Zone::default();
        let start = zone.read("t", &json!("2026-11-21 09:00:00")).unwrap();
        let said: Vec<_> = in_words(&own, &default, (Some(start), None), &zone)
            .into_iter()
            .map(|said| (said.text, said.own))
            .collect();
        let expected = [
            ("Registered attendees only.", false),
            (
                "Single entry: a ticket enters once until it is checked out.",
                true,
            ),
            ("Each person is let in once and never again.", true),
            ("At most 1,200 people are inside at a time.", true),
            (
                "Opens 30 minutes before it starts: at 2026-11-21 08:30.",
                true,
            ),
            (
                "Closes 2 hours after it ends; it has no end yet, so it stays open.",
                false,
            ),
        ];
        assert_eq!(said, expected.map(|(text, own)| (text.to_owned(), own)));
    }

    #[test]
    fn days_and_types_are_said() {
        let own = rules(
            &json!({"entry": "daily", "maxCheckIns": 2, "per": "day", "types": ["Crew", "VIP"],
            "typeTimes": [{"types": ["Crew"], "from": "22:00", "until": "02:00"}]}),
        );
        let said = in_words(
            &own,
            &AccessRules::default(),
            (None, None),
            &Zone::default(),
        );
        let said: Vec<_> = said.into_iter().map(|said| said.text).collect();
        assert_eq!(
            said[1..],
            [
                "Daily entry: a ticket enters once a day until it is checked out.",
                "Each person is let in 2 times a day at most.",
                "Attendees of these types only: Crew, VIP.",
                "Crew: 22:00 to 02:00 only.",
            ]
        );
    }

    #[test]
    fn rules_for_those_inside_are_said_last() {
        let zone = Zone::default();
        let last = |own: Value| {
            let said = in_words(&rules(&own), &AccessRules::default(), (None, None), &zone);
            said.into_iter()
                .skip(2)
                .map(|said| said.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            last(json!({"everybodyOutAt": "23:00", "oneAtATime": true})),
            [
                "Everybody leaves at 23:00.",
                "One room at a time: a check-in at one place below ends the stay in the others.",
            ]
        );
        assert_eq!(
            last(
                json!({"everybodyOutAt": "23:00", "everybodyOutExcept": ["crew", "press"], "oneAtATime": false})
            ),
            ["Everybody leaves at 23:00, except crew, press."]
        );
        assert_eq!(last(json!({"everybodyOutExcept": ["crew"]})), [""; 0]);
    }

    #[test]
    fn what_a_place_sets_itself_is_told_in_few_words() {
        let told = |own: Value| tags(&rules(&own)).join("; ");
        assert_eq!(told(json!({"capacity": 5})), "");
        assert_eq!(
            told(
                json!({"ruleSet": "simple", "entry": "daily", "types": ["VIP", "Speaker", "Crew"], "typeTimes": [],
                "maxCheckIns": 2, "per": "day"})
            ),
            "Registered only; VIP, Speaker +1; Once a day; 2 × a day"
        );
        assert_eq!(
            told(
                json!({"ruleSet": "open", "types": [], "opensBefore": 30, "everybodyOutAt": "23:00",
                "zone": "B"})
            ),
            "Open to all; Nobody; Open 30 min before; Out at 23:00; Zone B"
        );
    }

    #[test]
    fn without_rules_two_things_are_said() {
        let none = AccessRules::default();
        let said = in_words(&none, &none, (None, None), &Zone::default());
        assert_eq!(said.len(), 2);
        assert!(said.iter().all(|said| !said.own));
    }
}
