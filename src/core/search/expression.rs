//! A checked search expression. Everything in it is typed and within its limits; nothing in it has
//! been looked up.

use super::catalogue::SearchField;

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    /// All of them hold.
    And(Vec<Expr>),
    /// One of them holds.
    Or(Vec<Expr>),
    /// The expression does not hold.
    Not(Box<Expr>),
    /// A property compares so.
    Field(&'static SearchField, Test),
    /// So many interactions: `fi`, `si`, `ti`.
    Count {
        /// 0 for first, 1 for second, 2 for third.
        place: usize,
        /// Their type; any without it.
        kind: Option<String>,
        /// Columns and the ids that may stand there.
        others: Vec<(&'static str, Vec<i64>)>,
        /// The comparison of the number.
        op: Op,
        /// With what.
        count: i64,
    },
    /// A value in `data`: `ud`.
    Document {
        /// Section, and the keys below it.
        path: Vec<String>,
        /// The comparison of the value.
        test: Test,
    },
    /// A named value: `st`.
    Statement {
        /// Its name.
        name: String,
        /// The comparison of the value.
        test: Test,
    },
    /// A message was sent: `comms`.
    Message {
        /// `email` or `sms`.
        channel: String,
        /// Its template's slug; any without it.
        template: Option<String>,
    },
    /// The record came in by an import: `batch`.
    Batch {
        /// The device that the import was made for; any without it.
        device: Option<i64>,
    },
}

/// The comparison of a value.
#[derive(Debug, Clone)]
pub enum Test {
    /// With one value.
    Compare(Op, Scalar),
    /// Contains a text, whatever the case.
    Contains(String),
    /// Is one of these.
    In(Vec<Scalar>),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Op {
    /// The operator as an expression writes it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "==" => Self::Equal,
            "!=" => Self::Unequal,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    /// The operator in SQL, where neither side is NULL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Returns whether it is about order, not equality.
    pub fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }

    /// Returns whether it holds of two numbers.
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

/// A value that something is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// No value.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// Text.
    Text(String),
    /// The instants from the first to the last of these milliseconds: a time is written in whole
    /// seconds and kept in milliseconds.
    Time(i64, i64),
}
