//! The changes that a save made to a template, line by line.

/// A line of a template, and what a save did to it.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    change: Change,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Same,
    Gone,
    New,
}

impl Line {
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.change == Change::New
    }

    /// With a sign in front, for those who cannot tell the colours apart.
    #[must_use]
    pub fn shown(&self) -> String {
        let sign = match self.change {
            Change::Same => ' ',
            Change::Gone => '-',
            Change::New => '+',
        };
        format!("{sign} {}", self.text)
    }

    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.change == Change::Gone
    }
}

/// Returns the lines that a save changed: those between the lines that are the same at both ends.
#[must_use]
pub fn changed(before: &str, after: &str) -> Vec<Line> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(before, after)| before == after).count()
    };
    let head = same(&mut before.iter().zip(&after));
    let tail = same(&mut before[head..].iter().rev().zip(after[head..].iter().rev()));
    let line = |change| {
        move |text: &&str| Line {
            change,
            text: (*text).to_owned(),
        }
    };
    let (before_end, after_end) = (before.len() - tail, after.len() - tail);
    after[..head]
        .iter()
        .map(line(Change::Same))
        .chain(before[head..before_end].iter().map(line(Change::Gone)))
        .chain(after[head..after_end].iter().map(line(Change::New)))
        .chain(after[after_end..].iter().map(line(Change::Same)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_between_what_is_the_same_are_changed() {
        let shown = |before: &str, after: &str| -> String {
            changed(before, after)
                .iter()
                .map(Line::shown)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(shown("a\nb\nc", "a\nx\nc"), "  a - b + x   c");
        assert_eq!(shown("", "a\nb"), "+ a + b");
        assert_eq!(shown("a\na", "a"), "  a - a");
        assert_eq!(shown("a", "a"), "  a");
        assert_eq!(shown("a\nb", ""), "- a - b");
    }
}
