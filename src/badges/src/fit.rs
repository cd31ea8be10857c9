//! Texts in their frames: as large as asked for, smaller where they are too long, then in two lines.

use crate::fonts::{FAMILY, Fonts};
use resvg::usvg::Tree;

/// Millimetres of a point.
pub(crate) const POINT_MM: f64 = 25.4 / 72.0;
/// The height of a line, in sizes of its letters.
pub(crate) const LINE: f64 = 1.2;
/// A text shrinks to this part of its size before it takes two lines.
const SHRINKS_TO: f64 = 0.7;
/// Smaller letters are not read across a table.
const SMALLEST_PT: f64 = 5.0;

/// A text as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    pub lines: Vec<String>,
    /// Points.
    pub size: f64,
    /// It had to become so small that it is hardly read.
    pub is_too_long: bool,
}

/// Fits a text into a width and height in millimetres.
pub(crate) fn fit(fonts: &Fonts, text: &str, bold: bool, size: f64, room: (f64, f64)) -> Fitted {
    let (width, height) = room;
    // Two thirds of a line are letters: a frame as high as these takes one line.
    let highest = |lines: f64| height / (POINT_MM * (LINE * (lines - 1.0) + 0.95));
    let fits = |line: &str, lines: f64| {
        let one_point = measure(fonts, line, bold);
        let widest = if one_point > 0.0 {
            width / one_point
        } else {
            size
        };
        size.min(widest).min(highest(lines))
    };
    let of_one = fits(text, 1.0);
    let mut fitted = Fitted {
        lines: vec![text.to_owned()],
        size: of_one,
        is_too_long: false,
    };
    if of_one < size.min(highest(1.0)) * SHRINKS_TO {
        let halves = halves(text).into_iter().map(|(first, second)| {
            let of_two = fits(first, 2.0).min(fits(second, 2.0));
            (of_two, vec![first.to_owned(), second.to_owned()])
        });
        let best = halves.max_by(|(one, _), (other, _)| one.total_cmp(other));
        if let Some((of_two, lines)) = best.filter(|(of_two, _)| *of_two > of_one) {
            fitted = Fitted {
                lines,
                size: of_two,
                is_too_long: false,
            };
        }
    }
    fitted.is_too_long = fitted.size < size && fitted.size < SMALLEST_PT.max(size / 3.0);
    fitted
}

/// The ways to part a text into two lines: at a space, or behind a hyphen; the three nearest to its middle.
fn halves(text: &str) -> Vec<(&str, &str)> {
    let mut ways: Vec<_> = text
        .char_indices()
        .filter_map(|(at, letter)| match letter {
            ' ' => Some((&text[..at], &text[at + 1..])),
            '-' | '/' => Some((&text[..=at], &text[at + 1..])),
            _ => None,
        })
        .filter(|(first, second)| !first.is_empty() && !second.is_empty())
        .collect();
    ways.sort_by_key(|(first, second)| first.len().abs_diff(second.len()));
    ways.truncate(3);
    ways
}

/// The width of a text in letters of one point, in millimetres.
fn measure(fonts: &Fonts, text: &str, bold: bool) -> f64 {
    const LARGE: f64 = 100.0;
    let weight = if bold { 700 } else { 400 };
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\"><text xml:space=\"preserve\" y=\"0\" \
         font-family=\"{FAMILY}\" font-weight=\"{weight}\" font-size=\"{LARGE}\">{}</text></svg>",
        escaped(text)
    );
    let tree = Tree::from_str(&svg, &fonts.options());
    let width = tree.map_or(0.0, |tree| tree.root().abs_bounding_box().width());
    f64::from(width) / LARGE * POINT_MM
}

/// A text within SVG.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}
