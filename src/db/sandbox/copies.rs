//! How often a statement's parts are copied while it is compiled. SQLite puts a common table expression
//! wherever its name stands, with all that is named in it, and the expression of a subquery wherever
//! the subquery's column stands: thirty, each naming the one before twice, become a thousand million,
//! and nothing can interrupt that.

use std::collections::HashMap;

/// Copies of one table at the most.
const TABLES_MAX: f64 = 50_000.0;
/// Copies of one expression at the most.
const EXPRESSIONS_MAX: f64 = 1_000_000.0;

/// What a statement is made of, as far as names are told from what stands around them.
#[derive(Debug, PartialEq)]
enum Word {
    /// A name, in lowercase; however it is quoted, and texts too, which SQLite takes for names where it
    /// needs one.
    Name(String),
    /// One of [`KEYWORDS`], which is no name unless it is quoted.
    Key(&'static str),
    Sign(char),
}

const KEYWORDS: [&str; 31] = [
    "all",
    "and",
    "as",
    "between",
    "case",
    "collate",
    "distinct",
    "else",
    "escape",
    "exists",
    "from",
    "group",
    "having",
    "in",
    "intersect",
    "is",
    "isnull",
    "join",
    "limit",
    "not",
    "notnull",
    "null",
    "on",
    "or",
    "order",
    "select",
    "then",
    "union",
    "using",
    "when",
    "where",
];

/// Whether compiling a statement would take all there is. It rather counts a name twice than not at all.
pub(super) fn too_many(sql: &str) -> bool {
    let words = words(sql);
    tables(&words) > TABLES_MAX || expressions(&words) > EXPRESSIONS_MAX
}

/// How often one common table expression may be put in place.
fn tables(words: &[Word]) -> f64 {
    let mut copies = 1.0;
    for (at, name) in words.iter().enumerate() {
        if defines(words, at) {
            let uses = (1..words.len()).filter(|at| words[*at] == *name && is_use(words, *at));
            // Once for each place that defines it: the same name may be given again further in.
            copies *= f64::from(u32::try_from(uses.count()).unwrap_or(u32::MAX)).max(1.0);
        }
    }
    copies
}

/// A SELECT with what stands within it.
struct Query {
    /// How often each column is named in it, itself.
    names: HashMap<String, u32>,
    /// `*`: each column once more.
    stars: u32,
    /// What its common table expressions multiply by, each going into the next.
    common: f64,
    /// What the subquery within it does that multiplies most.
    inner: f64,
    /// Whether its rows are gathered in groups, so that it stays a query of its own.
    gathers: bool,
}

impl Query {
    fn new() -> Self {
        Self {
            names: HashMap::new(),
            stars: 0,
            common: 1.0,
            inner: 1.0,
            gathers: false,
        }
    }

    fn copies(&self) -> f64 {
        let own = self.names.values().max().copied().unwrap_or_default() + self.stars;
        f64::from(own.max(1)) * self.common * self.inner
    }
}

/// How often one expression may be put in place.
fn expressions(words: &[Word]) -> f64 {
    let mut most: f64 = 1.0;
    let mut open = vec![Query::new()];
    // Of each parenthesis: a query and whether it is a common table expression, or anything else.
    let mut parentheses: Vec<Option<bool>> = Vec::new();
    let mut close = |open: &mut Vec<Query>, is_common: bool| {
        if let (Some(query), Some(outer)) = (open.pop(), open.last_mut()) {
            most = most.max(query.copies());
            let copies = if query.gathers { 1.0 } else { query.copies() };
            if is_common {
                outer.common *= copies;
            } else {
                outer.inner = outer.inner.max(copies);
            }
        }
    };
    for (at, word) in words.iter().enumerate() {
        let (before, after) = (at.checked_sub(1).map(|at| &words[at]), words.get(at + 1));
        match word {
            Word::Sign('(') => {
                let is_query = is_name(after, &["select", "with", "values"]);
                let is_common = is_name(before, &["as", "materialized"]);
                parentheses.push(is_query.then_some(is_common));
                if is_query {
                    open.push(Query::new());
                }
            }
            Word::Sign(')') => {
                if let Some(Some(is_common)) = parentheses.pop() {
                    close(&mut open, is_common);
                }
            }
            _ => {
                if let Some(query) = open.last_mut() {
                    count(query, before, word, after);
                }
            }
        }
    }
    while open.len() > 1 {
        close(&mut open, false);
    }
    most.max(open.first().map_or(1.0, Query::copies))
}

fn count(query: &mut Query, before: Option<&Word>, word: &Word, after: Option<&Word>) {
    match word {
        Word::Sign('*') => {
            let is_star = is_name(before, &["select", "distinct", "all"])
                || matches!(before, Some(Word::Sign(',' | '.')));
            query.stars += u32::from(is_star);
        }
        Word::Key("group") => query.gathers |= is_name(after, &["by"]),
        Word::Name(name) => {
            let stands_for_more = matches!(after, Some(Word::Sign('.' | '(')));
            if !stands_for_more && before != Some(&Word::Key("as")) {
                *query.names.entry(name.clone()).or_default() += 1;
            }
        }
        _ => {}
    }
}

/// Whether the name at a place is given to an expression there: `name AS (`, `name(a, b) AS NOT
/// MATERIALIZED (`.
fn defines(words: &[Word], at: usize) -> bool {
    let mut rest = &words[at + 1..];
    if !matches!(words[at], Word::Name(_)) {
        return false;
    }
    if rest.first() == Some(&Word::Sign('(')) {
        let end = rest.iter().position(|word| *word == Word::Sign(')'));
        rest = end.map_or(&[], |end| &rest[end + 1..]);
    }
    if !is_name(rest.first(), &["as"]) {
        return false;
    }
    let mut rest = rest[1..].iter();
    let next = rest.find(|word| !is_name(Some(word), &["not", "materialized"]));
    next == Some(&Word::Sign('('))
}

/// Whether the name at a place may be that of a table that is read.
fn is_use(words: &[Word], at: usize) -> bool {
    let before = words.get(at - 1);
    is_name(before, &["from", "join", "in"])
        || matches!(before, Some(Word::Sign(',' | '(')))
            && !matches!(words.get(at + 1), Some(Word::Sign('.' | '(')))
            && !defines(words, at)
}

fn is_name(word: Option<&Word>, names: &[&str]) -> bool {
    match word {
        Some(Word::Name(name)) => names.contains(&name.as_str()),
        Some(Word::Key(key)) => names.contains(key),
        _ => false,
    }
}

fn words(sql: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let (after, word) = if let Some(comment) = rest.strip_prefix("--") {
            (
                comment.split_once('\n').map_or("", |(_, after)| after),
                None,
            )
        } else if let Some(comment) = rest.strip_prefix("/*") {
            (
                comment.split_once("*/").map_or("", |(_, after)| after),
                None,
            )
        } else if let Some(end) = closing(letter) {
            let (name, after) = quoted(&rest[1..], end);
            (after, Some(Word::Name(name)))
        } else if belongs(letter) {
            let end = rest.find(|letter| !belongs(letter));
            let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
            let name = name.to_ascii_lowercase();
            let key = KEYWORDS.iter().find(|key| **key == name);
            (
                after,
                Some(key.map_or(Word::Name(name.clone()), |key| Word::Key(key))),
            )
        } else {
            let sign = (!letter.is_ascii_whitespace()).then_some(Word::Sign(letter));
            (&rest[letter.len_utf8()..], sign)
        };
        words.extend(word);
        rest = after;
    }
    words
}

fn belongs(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

/// What ends what a quotation mark begins.
fn closing(mark: char) -> Option<char> {
    match mark {
        '\'' | '"' | '`' => Some(mark),
        '[' => Some(']'),
        _ => None,
    }
}

/// What is quoted, up to its end, and what comes after; a mark that stands twice is one of its letters.
fn quoted(rest: &str, end: char) -> (String, &str) {
    let mut name = String::new();
    let mut rest = rest;
    while let Some((part, after)) = rest.split_once(end) {
        name.push_str(part);
        rest = after;
        match after.strip_prefix(end) {
            Some(after) if end != ']' => {
                name.push(end);
                rest = after;
            }
            _ => return (name.to_ascii_lowercase(), rest),
        }
    }
    (name, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many expressions, each naming the one before as `uses` has it in place of `@`.
    fn chain(levels: usize, uses: &str) -> String {
        let more = |level: usize| {
            format!(
                ", a{level}(x) AS ({})",
                uses.replace('@', &format!("a{}", level - 1))
            )
        };
        let all: String = (1..levels).map(more).collect();
        format!(
            "WITH a0(x) AS (SELECT 1){all} SELECT x FROM a{}",
            levels - 1
        )
    }

    #[test]
    fn what_doubles_at_each_step_is_noticed_however_it_is_written() {
        for uses in [
            "SELECT p.x FROM @ AS p, @ AS q",
            "SELECT (SELECT x FROM @) + (SELECT x FROM @)",
            "SELECT x FROM \"@\" JOIN [@] USING (x)",
            "SELECT x FROM /* , */ `@` -- ,\n WHERE x IN @",
            "SELECT x FROM '@' WHERE x NOT IN (SELECT x FROM (@))",
            "SELECT p.x FROM (@ AS p), (@ AS q)",
        ] {
            assert!(too_many(&chain(40, uses)), "{uses}");
            assert!(too_many(&chain(40, &uses.to_uppercase())), "{uses}");
            assert!(!too_many(&chain(10, uses)), "{uses}");
        }
        let spaced = chain(40, "SELECT p.x FROM @ AS p, @ AS q");
        let spaced = spaced.replace(" AS (", "/**/AS--\nNOT/**/MATERIALIZED(");
        assert!(too_many(&spaced), "{spaced}");
        let nested = (0..40).fold("SELECT 1 AS x".to_owned(), |inner, _| {
            format!("WITH a AS ({inner}) SELECT p.x FROM a AS p, a AS q")
        });
        assert!(too_many(&nested));
    }

    #[test]
    fn what_doubles_in_each_subquery_is_noticed_however_it_is_written() {
        for columns in [
            "x + x AS x",
            "x || q.x AS \"x\"",
            "coalesce([x], 'x', q.`x`) AS x",
            "*, x AS y",
            "q.*, x || y AS x",
            "x, x AS y",
            "DISTINCT x + x AS x",
        ] {
            let nested = |levels: usize| {
                (0..levels).fold("SELECT 1 AS x, 2 AS y".to_owned(), |inner, _| {
                    format!("SELECT {columns} FROM ({inner}) AS q")
                })
            };
            assert!(too_many(&nested(40)), "{columns}");
            assert!(!too_many(&nested(6)), "{columns}");
            assert!(
                too_many(&chain(40, &format!("SELECT {columns} FROM @ AS q"))),
                "{columns}"
            );
        }
        // What is gathered is worked out once.
        let gathered = (0..40).fold("SELECT 1 AS x".to_owned(), |inner, _| {
            format!("SELECT max(x) + min(x) AS x FROM ({inner}) GROUP BY x")
        });
        assert!(!too_many(&gathered));
        let beside = vec!["(SELECT x + x + x FROM q)"; 200].join(", ");
        assert!(!too_many(&format!("SELECT {beside}")));
    }

    #[test]
    fn what_is_named_once_or_is_no_table_is_not_counted() {
        assert!(!too_many(&chain(200, "SELECT x FROM @ GROUP BY @.x")));
        let columns = "WITH total AS (SELECT 1 AS total) SELECT total.total, 'total', total + total FROM total";
        assert!(!too_many(columns));
        for broken in [
            "", "'", "\"a", "[", "/*", "--", "WITH", "AS (", "a AS", "a(", "ä AS (",
        ] {
            assert!(!too_many(broken), "{broken}");
        }
    }
}
