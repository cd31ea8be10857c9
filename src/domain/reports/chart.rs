//! The chart of a report: a line over time, bars, or a grid of times and names, of one column of numbers. It is
//! drawn as SVG, so that it needs no script; a grid is a table.

use super::{Cell, Preview, preview::in_digits};
use crate::{
    core::texts::{self, tx},
    types::{Timestamp, Zone},
};
use std::collections::{BTreeMap, BTreeSet};

/// Width and height of the picture, in its units.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 100.0;
/// Bars beside names, at most; of more names, so many with the highest numbers.
const NAMED_MAX: usize = 40;
const HIGHEST_MAX: usize = 20;
/// Bars beside names that repeat, such as a session for each of its people, at most.
const PEOPLE_MAX: usize = 12;
/// Bars of a histogram, at most.
const STEPS_MAX: f64 = 12.0;
/// Names and times of a grid, at most, and its shades.
const GRID_MAX: (usize, usize) = (12, 200);
const SHADES: f64 = 5.0;
/// A line breaks where a gap is so many times longer than the usual distance of two points.
const GAP: f64 = 8.0;

/// The columns that a chart can be drawn of.
#[derive(Debug, Default)]
pub struct Offers {
    /// The column of times or names, and whether it is of times.
    along: Option<(usize, bool)>,
    /// Another column of names, where the first alone does not distinguish the rows.
    beside: Option<usize>,
    /// Set where times repeat, once for each of the names beside them.
    pub is_grid: bool,
    /// Columns of numbers: place and name.
    pub values: Vec<(usize, String)>,
    /// The columns as people read them.
    headings: Vec<String>,
}

/// A chart.
#[derive(Debug, Default, PartialEq)]
pub struct Chart {
    /// `line`, `bar`, `grid`, or `names`: bars that lie beside names.
    pub kind: &'static str,
    /// The column of numbers.
    pub value: String,
    /// That column as people read it.
    pub heading: String,
    /// The bars tell how many rows have which numbers.
    pub is_histogram: bool,
    /// The content, in words.
    pub about: String,
    /// The parts of a line, which breaks at long gaps.
    pub lines: Vec<Part>,
    pub bars: Vec<Bar>,
    /// The column of the times of a grid, its names, and a row for each time.
    pub along: String,
    pub names: Vec<String>,
    pub rows: Vec<GridRow>,
    /// The first and the last time, and the highest number.
    pub first: String,
    pub last: String,
    pub most: String,
    /// Set where there are more names or times than are drawn.
    pub more: bool,
}

/// A time of a grid, with its numbers and their shades, 0 to 5.
#[derive(Debug, PartialEq)]
pub struct GridRow {
    pub time: String,
    pub cells: Vec<(String, u8)>,
}

/// A part of a line: its points, and the area below it.
#[derive(Debug, PartialEq)]
pub struct Part {
    pub line: String,
    pub area: String,
}

/// A bar, in the picture's units.
#[derive(Debug, PartialEq)]
pub struct Bar {
    pub name: String,
    pub number: String,
    pub x: String,
    pub y: String,
    pub width: String,
    pub height: String,
}

impl Offers {
    pub fn new(made: &Preview) -> Self {
        let column = |at: usize| made.rows.iter().map(move |row| &row[at]);
        let filled = |at: usize| column(at).filter(|cell| !cell.text.is_empty());
        let numbers = |at: usize| {
            let name = &made.columns[at];
            let counted = name != "id" && !name.ends_with("_id");
            counted && filled(at).next().is_some() && filled(at).all(|cell| cell.number.is_some())
        };
        let all = 0..made.columns.len();
        let texts = |at: &usize| {
            filled(*at).next().is_some() && filled(*at).all(|cell| cell.number.is_none())
        };
        let times = |at: &usize| texts(at) && filled(*at).all(|cell| moment(&cell.text).is_some());
        let time = all.clone().find(times).map(|at| (at, true));
        // Times after a name say when something was; they are no course over time.
        let name = all.clone().find(texts).map(|at| (at, false));
        let along = match (time, name) {
            (Some(time), Some(name)) if name.0 < time.0 => Some(name),
            (time, name) => time.or(name),
        };
        let values = all
            .filter(|at| numbers(*at))
            .map(|at| (at, made.columns[at].clone()))
            .collect();
        let name = along.map_or(0, |(at, _)| at);
        let distinct: BTreeSet<&str> = column(name).map(|cell| &*cell.text).collect();
        let beside = (name + 1..made.columns.len()).find(texts);
        let beside = beside.filter(|_| distinct.len() < made.rows.len());
        Self {
            along,
            // One line through the numbers of several places, say, would tell nothing.
            is_grid: along.is_some_and(|(_, times)| times) && beside.is_some(),
            beside,
            values,
            headings: made.headings.clone(),
        }
    }

    /// A column of numbers as people read it.
    pub fn heading(&self, at: &usize) -> &str {
        &self.headings[*at]
    }

    /// Returns whether anything can be drawn of several rows.
    pub fn any(&self) -> bool {
        self.along.is_some() && !self.values.is_empty()
    }

    /// Returns whether there are times, along which a line can be drawn.
    pub fn over_time(&self) -> bool {
        self.along.is_some_and(|(_, times)| times) && !self.is_grid
    }
}

impl Chart {
    /// Draws a column of numbers as wished, or as suits it; nothing where there is nothing to draw.
    pub fn draw(made: &Preview, offers: &Offers, kind: &str, value: &str) -> Option<Self> {
        let (along, times) = offers.along?;
        let wanted = offers.values.iter().find(|(_, name)| name == value);
        let (at, name) = wanted.or(offers.values.first())?;
        if kind == "none" || made.rows.len() < 2 {
            return None;
        }
        let grid = offers.beside.filter(|_| offers.is_grid);
        if let Some(beside) = grid {
            return Some(Self::grid(made, [along, beside, *at]));
        }
        let beside = offers.beside.filter(|_| !times);
        // What has no name is a group of its own; what has no time stands nowhere.
        let named = |row: &[Cell]| match row[along].text.as_str() {
            "" => "–".to_owned(),
            name => name.to_owned(),
        };
        let called = |row: &[Cell]| match beside {
            Some(beside) => format!("{}, {}", named(row), row[beside].text),
            None => named(row),
        };
        let mut points: Vec<(String, f64)> = made
            .rows
            .iter()
            .filter(|row| !times || !row[along].text.is_empty())
            .filter_map(|row| Some((called(row), row[*at].number?)))
            .collect();
        if times {
            points.sort_by_key(|(time, _)| moment(time));
        }
        if points.len() < 2 {
            return None;
        }
        if !times {
            return Some(Self::named(made, [along, *at], points, beside.is_some()));
        }
        let is_bar = kind == "bar";
        Some(Self {
            kind: if is_bar { "bar" } else { "line" },
            value: name.clone(),
            heading: made.headings[*at].clone(),
            about: about(&made.headings[*at], &made.headings[along], &points),
            first: minute(&points[0].0),
            last: minute(&points[points.len() - 1].0),
            most: number(highest(&points)),
            lines: if is_bar { Vec::new() } else { lines(&points) },
            bars: if is_bar {
                standing(&points)
            } else {
                Vec::new()
            },
            ..Self::default()
        })
    }

    /// Bars beside names: all, or the highest of many. Of people, say, each once in several sessions, and of many equal
    /// numbers, how many have which.
    fn named(
        made: &Preview,
        [along, at]: [usize; 2],
        mut points: Vec<(String, f64)>,
        repeats: bool,
    ) -> Self {
        let is_long = points.len() > NAMED_MAX;
        if is_long {
            points.sort_by(|one, other| other.1.total_cmp(&one.1));
        }
        let is_same = is_long && points[0].1.total_cmp(&points[HIGHEST_MAX - 1].1).is_eq();
        let is_histogram = is_same || (repeats && points.len() > PEOPLE_MAX);
        if is_long && !is_histogram {
            points.truncate(HIGHEST_MAX);
        }
        Self {
            kind: "names",
            value: made.columns[at].clone(),
            heading: made.headings[at].clone(),
            about: about(&made.headings[at], &made.headings[along], &points),
            more: made.more || (is_long && !is_histogram),
            bars: if is_histogram {
                histogram(&points)
            } else {
                lying(&points)
            },
            is_histogram,
            ..Self::default()
        }
    }

    /// A row for each time and a column for each name: those with the highest numbers, by name.
    fn grid(made: &Preview, [time, name, value]: [usize; 3]) -> Self {
        let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
        let mut cells: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
        for row in &made.rows {
            let number = row[value].number.unwrap_or_default();
            *totals.entry(&row[name].text).or_default() += number;
            let times = cells.entry(&row[time].text).or_default();
            *times.entry(&row[name].text).or_default() += number;
        }
        let (names_max, times_max) = GRID_MAX;
        let more = made.more || totals.len() > names_max || cells.len() > times_max;
        let mut names: Vec<(&str, f64)> = totals.into_iter().collect();
        names.sort_by(|one, other| other.1.total_cmp(&one.1));
        names.truncate(names_max);
        names.sort_by_key(|(name, _)| *name);
        let numbers = cells.values().flat_map(BTreeMap::values).copied();
        let most = numbers.fold(0.0, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 5"
        )]
        let shade = |number: f64| (number / most * SHADES).ceil().clamp(0.0, SHADES) as u8;
        let rows = cells.iter().take(times_max).map(|(time, numbers)| {
            let number = |(name, _): &(&str, f64)| {
                let number_of = numbers.get(name);
                number_of.map_or_else(Default::default, |of| (number(*of), shade(*of)))
            };
            GridRow {
                time: minute(time),
                cells: names.iter().map(number).collect(),
            }
        });
        Self {
            kind: "grid",
            value: made.columns[value].clone(),
            heading: made.headings[value].clone(),
            rows: rows.collect(),
            names: names.iter().map(|(name, _)| (*name).to_owned()).collect(),
            along: made.headings[time].clone(),
            more,
            ..Self::default()
        }
    }
}

/// A line over time, true to scale.
fn lines(points: &[(String, f64)]) -> Vec<Part> {
    let (low, high) = range(points);
    let times: Vec<f64> = points.iter().map(|(time, _)| seconds(time)).collect();
    let (first, last) = (times[0], times[times.len() - 1]);
    let across = if last > first { last - first } else { 1.0 };
    let height = |number: f64| HEIGHT - (number - low) / (high - low) * HEIGHT;
    let place = |time: f64| (time - first) / across * WIDTH;
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    let long = steps[steps.len() / 2] * GAP;
    let mut parts = Vec::new();
    let mut from = 0;
    for to in 1..=times.len() {
        if to < times.len() && times[to] - times[to - 1] <= long {
            continue;
        }
        let placed = (from..to).map(|at| {
            let (x, y) = (place(times[at]), height(points[at].1));
            format!("{x:.1},{y:.1}")
        });
        let line = placed.collect::<Vec<_>>().join(" ");
        let (begin, end, zero) = (place(times[from]), place(times[to - 1]), height(0.0));
        parts.push(Part {
            area: format!("{begin:.1},{zero:.1} {line} {end:.1},{zero:.1}"),
            line,
        });
        from = to;
    }
    parts
}

/// The lowest and the highest end of the picture; nothing is cut off, and zero is in it.
fn range(points: &[(String, f64)]) -> (f64, f64) {
    let low = points.iter().map(|(_, number)| *number).fold(0.0, f64::min);
    let high = highest(points).max(0.0);
    (low, if high > low { high } else { low + 1.0 })
}

fn highest(points: &[(String, f64)]) -> f64 {
    let numbers = points.iter().map(|(_, number)| *number);
    numbers.fold(f64::NEG_INFINITY, f64::max)
}

/// Bars that stand beside each other.
#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn standing(points: &[(String, f64)]) -> Vec<Bar> {
    let (low, high) = range(points);
    let step = WIDTH / points.len() as f64;
    let of = |number: f64| (number - low) / (high - low) * HEIGHT;
    let bar = |(at, (name, value)): (usize, &(String, f64))| {
        let (top, bottom) = (of(value.max(0.0)), of(value.min(0.0)));
        Bar {
            name: named(name),
            number: number(*value),
            x: format!("{:.1}", at as f64 * step),
            y: format!("{:.1}", HEIGHT - top),
            width: format!("{:.1}", step * 0.8),
            height: format!("{:.1}", top - bottom),
        }
    };
    points.iter().enumerate().map(bar).collect()
}

/// Bars that lie below each other, each beside its name.
fn lying(points: &[(String, f64)]) -> Vec<Bar> {
    let (low, high) = range(points);
    let of = |number: f64| (number - low) / (high - low) * 100.0;
    let bar = |(name, value): &(String, f64)| {
        let (left, right) = (of(value.min(0.0)), of(value.max(0.0)));
        Bar {
            name: named(name),
            number: number(*value),
            x: format!("{left:.1}"),
            y: "0".to_owned(),
            width: format!("{:.1}", right - left),
            height: "10".to_owned(),
        }
    };
    points.iter().map(bar).collect()
}

/// Counts how many of the numbers are in each of about a dozen steps.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a handful of steps"
)]
fn histogram(points: &[(String, f64)]) -> Vec<Bar> {
    let numbers = || points.iter().map(|(_, number)| *number);
    let low = numbers().fold(f64::INFINITY, f64::min);
    let across = highest(points) - low;
    let is_whole = numbers().all(|number| number.fract() == 0.0);
    let mut step = 10_f64.powf((across / STEPS_MAX).max(1e-9).log10().floor());
    // 1, 2, 5, 10, 20, …
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if across / step < STEPS_MAX && (step >= 1.0 || !is_whole) {
            break;
        }
        step *= factor;
    }
    let begin = (low / step).floor() * step;
    let mut counts = vec![0_u32; ((highest(points) - begin) / step).floor() as usize + 1];
    for number in numbers() {
        if let Some(count) = counts.get_mut(((number - begin) / step).floor() as usize) {
            *count += 1;
        }
    }
    let named = counts.iter().enumerate().map(|(at, count)| {
        let from = begin + at as f64 * step;
        let name = match (is_whole, step > 1.0) {
            (true, false) => number(from),
            (true, true) => format!("{}–{}", number(from), number(from + step - 1.0)),
            (false, _) => tx("reports-number-range")
                .with("from", number(from))
                .with("to", number(from + step))
                .to_string(),
        };
        (name, f64::from(*count))
    });
    lying(&named.collect::<Vec<_>>())
}

/// A time without seconds, where it is a whole minute, as the language writes it.
fn minute(time: &str) -> String {
    if moment(time).is_none() {
        return time.to_owned();
    }
    let minute = time.strip_suffix(":00").filter(|_| time.len() == 19);
    in_digits(minute.unwrap_or(time))
}

fn about(value: &str, along: &str, points: &[(String, f64)]) -> String {
    let by = |one: &&(String, f64), other: &&(String, f64)| one.1.total_cmp(&other.1);
    let (Some(most), Some(least)) = (points.iter().max_by(by), points.iter().min_by(by)) else {
        return String::new();
    };
    tx("reports-chart-about")
        .with("value", value)
        .with("along", along)
        .with("count", points.len())
        .with("most", number(most.1))
        .with("most_at", named(&most.0))
        .with("least", number(least.1))
        .with("least_at", named(&least.0))
        .to_string()
}

/// A name, or a time with its day as the language writes it.
fn named(name: &str) -> String {
    if moment(name).is_some() {
        in_digits(name)
    } else {
        name.to_owned()
    }
}

/// A number as people read it.
#[expect(clippy::cast_possible_truncation, reason = "it is whole, and small")]
fn number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        texts::number(number as i64)
    } else {
        texts::from_english_decimal(&format!("{number:.2}"))
    }
}

/// `yyyy-mm-dd hh:mm:ss` or `yyyy-mm-dd` as a point in time, of whatever zone.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let begins = |text: &str| text.len() >= 10 && text.as_bytes()[4] == b'-';
    if !begins(text) {
        return None;
    }
    let whole = if text.len() == 10 {
        format!("{text} 00:00:00")
    } else {
        text.to_owned()
    };
    Zone::default().read("time", &whole.into()).ok()
}

#[expect(clippy::cast_precision_loss, reason = "it is drawn")]
fn seconds(time: &str) -> f64 {
    moment(time).map_or(0.0, |at| (at.0 / 1000) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(columns: &[&str], rows: &[&[&str]]) -> Preview {
        let cell = |text: &&str| Cell {
            text: (*text).to_owned(),
            number: text.parse().ok(),
        };
        Preview {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            headings: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows
                .iter()
                .map(|row| row.iter().map(cell).collect())
                .collect(),
            more: false,
        }
    }

    fn drawn(made: &Preview, kind: &str, value: &str) -> Option<Chart> {
        Chart::draw(made, &Offers::new(made), kind, value)
    }

    #[test]
    fn times_make_a_line_in_their_order_and_true_to_scale() {
        let made = made(
            &["at", "id", "people", "check_ins"],
            &[
                &["2026-11-21 09:30:00", "1", "5", "10"],
                &["2026-11-21 09:00:00", "2", "0", "0"],
                &["2026-11-21 10:00:00", "3", "2", "4"],
            ],
        );
        let line = drawn(&made, "", "check_ins").unwrap();
        assert_eq!((line.kind, &*line.value), ("line", "check_ins"));
        let [part] = line.lines.as_slice() else {
            panic!("{line:?}");
        };
        assert_eq!(part.line, "0.0,100.0 300.0,0.0 600.0,60.0");
        assert!(part.area.starts_with("0.0,100.0 ") && part.area.ends_with(" 600.0,100.0"));
        assert_eq!(
            line.about,
            "check_ins by at, 3 of them: at most 10 at 2026-11-21 09:30:00, at least 0 at 2026-11-21 09:00:00"
        );
        // An id is a number that counts nothing.
        assert_eq!(drawn(&made, "", "id").unwrap().value, "people");
        let bars = drawn(&made, "bar", "people").unwrap();
        assert_eq!((bars.kind, bars.bars.len()), ("bar", 3));
        assert_eq!((&*bars.bars[1].y, &*bars.bars[1].height), ("0.0", "100.0"));
        assert!(drawn(&made, "none", "").is_none());
    }

    #[test]
    fn a_line_breaks_over_night() {
        let times = ["21 09:00", "21 09:15", "21 09:30", "22 09:00", "22 09:15"];
        let rows: Vec<[String; 2]> = times
            .iter()
            .map(|time| [format!("2026-11-{time}:00"), "1".to_owned()])
            .collect();
        let rows: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| row.iter().map(String::as_str).collect())
            .collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let line = drawn(&made(&["at", "people"], &rows), "", "").unwrap();
        let points: Vec<usize> = line
            .lines
            .iter()
            .map(|part| part.line.split(' ').count())
            .collect();
        assert_eq!(points, [3, 2]);
    }

    #[test]
    fn names_make_bars_and_what_is_below_zero_goes_the_other_way() {
        let made = made(
            &["product", "starts", "sold"],
            &[
                &["Day", "2026-11-21", "30"],
                &["Week", "2026-11-22", "-10"],
                &["", "2026-11-22", "7"],
            ],
        );
        let chart = drawn(&made, "", "").unwrap();
        assert_eq!((chart.kind, chart.bars.len()), ("names", 3));
        let place = |bar: &Bar| (bar.x.clone(), bar.width.clone());
        assert_eq!(place(&chart.bars[0]), ("25.0".into(), "75.0".into()));
        assert_eq!(place(&chart.bars[1]), ("0.0".into(), "25.0".into()));
    }

    #[test]
    fn many_names_are_counted_by_their_numbers() {
        let counted = |numbers: &[&str], session: &dyn Fn(usize) -> String| {
            let rows: Vec<[String; 3]> = (0..numbers.len())
                .map(|at| [session(at), format!("Person {at}"), numbers[at].to_owned()])
                .collect();
            let rows: Vec<Vec<&str>> = rows
                .iter()
                .map(|row| row.iter().map(String::as_str).collect())
                .collect();
            let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            let chart = drawn(&made(&["session", "person", "minutes"], &rows), "", "").unwrap();
            let bars = chart
                .bars
                .into_iter()
                .map(|bar| format!("{}: {}", bar.name, bar.number));
            (chart.is_histogram, bars.collect::<Vec<_>>())
        };
        let keynote = |_| "Keynote".to_owned();
        let minutes = [
            "0", "3", "12", "20", "44", "44", "45", "45", "45", "46", "50", "50", "59",
        ];
        let (is_histogram, bars) = counted(&minutes, &keynote);
        assert!(is_histogram);
        assert_eq!(bars[..3], ["0–4: 2", "5–9: 0", "10–14: 1"]);
        assert_eq!((bars.len(), &*bars[11]), (12, "55–59: 1"));
        // So few that each has a bar.
        assert!(!counted(&minutes[..12], &keynote).0);
        // Equal numbers, and numbers between whole ones.
        let own = |at: usize| format!("Session {at}");
        let (is_histogram, bars) = counted(&["7"; 41], &own);
        assert!(is_histogram);
        assert_eq!(bars, ["7: 41"]);
        let mut halves = vec!["0.25"; 40];
        halves.push("1.5");
        let (_, bars) = counted(&halves, &keynote);
        assert_eq!(bars.first().map(String::as_str), Some("0.20 to 0.40: 40"));
        // Those with the most of many names.
        let most: Vec<String> = (0..50).map(|at| at.to_string()).collect();
        let most: Vec<&str> = most.iter().map(String::as_str).collect();
        let (is_histogram, bars) = counted(&most, &own);
        assert!(!is_histogram);
        assert_eq!((bars.len(), &*bars[0]), (20, "Session 49: 49"));
    }

    #[test]
    fn names_that_stand_twice_are_distinct() {
        let made = made(
            &["product", "method", "sold"],
            &[&["Day", "cash", "3"], &["Day", "card", "2"]],
        );
        let chart = drawn(&made, "", "").unwrap();
        let names: Vec<_> = chart.bars.iter().map(|bar| &*bar.name).collect();
        assert_eq!(names, ["Day, cash", "Day, card"]);
    }

    #[test]
    fn times_that_repeat_beside_names_make_a_grid() {
        let heat = |other: &str| {
            made(
                &["hour", "place", "people"],
                &[
                    &["2026-11-21 09:00:00", "Room", "2"],
                    &[other, "Hall", "10"],
                ],
            )
        };
        let by_place = heat("2026-11-21 09:00:00");
        assert!(Offers::new(&by_place).is_grid);
        let grid = drawn(&by_place, "", "").unwrap();
        assert_eq!((grid.kind, &*grid.value), ("grid", "people"));
        assert_eq!(grid.names, ["Hall", "Room"]);
        assert_eq!(grid.rows[0].time, "2026-11-21 09:00");
        let cells: Vec<_> = grid.rows.iter().map(|row| row.cells.as_slice()).collect();
        assert_eq!(cells, [[("10".to_owned(), 5), ("2".to_owned(), 1)]]);
        assert!(drawn(&by_place, "none", "people").is_none());
        // More names than fit: those with the most.
        let places: Vec<String> = (0..20).map(|at| format!("Place {at:02}")).collect();
        let numbers: Vec<String> = (0..20).map(|at| at.to_string()).collect();
        let rows = places.iter().zip(&numbers);
        let rows: Vec<[&str; 3]> = rows
            .map(|(place, number)| ["2026-11-21 09:00:00", place, number])
            .collect();
        let rows: Vec<&[&str]> = rows.iter().map(<[&str; 3]>::as_slice).collect();
        let grid = drawn(&made(&["hour", "place", "people"], &rows), "", "").unwrap();
        assert_eq!(
            (grid.names.len(), &*grid.names[0], grid.more),
            (12, "Place 08", true)
        );
        let line = drawn(&heat("2026-11-21 10:00:00"), "", "").unwrap();
        assert_eq!(line.kind, "line");
        // The hour that comes twice when the clocks go back.
        let hours = made(
            &["hour", "people"],
            &[&["2026-10-25 02:00:00", "3"], &["2026-10-25 02:00:00", "2"]],
        );
        assert_eq!(drawn(&hours, "", "").unwrap().kind, "line");
    }

    #[test]
    fn what_has_no_numbers_or_no_names_is_not_drawn() {
        for made in [
            made(&["a", "b"], &[&["x", "y"], &["z", "w"]]),
            made(&["a", "b"], &[&["1", "2"], &["3", "4"]]),
            made(&["a", "b"], &[&["x", "1"]]),
            made(&["a"], &[]),
            made(&["a", "b"], &[&["x", ""], &["y", ""]]),
        ] {
            assert!(drawn(&made, "", "").is_none(), "{made:?}");
        }
    }
}
