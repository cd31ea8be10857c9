//! An expression to SQL. Values become parameters; what stands in the statement comes from the
//! catalogue alone.

use super::{
    catalogue::{FieldKind, SearchField, Subject, index_query},
    expression::{Expr, Op, Scalar, Test},
};
use crate::types::json;
use rusqlite::types::Value;
use std::fmt::Write;

/// A condition over the rows of a subject's table.
#[derive(Debug, Default)]
pub struct Condition {
    /// SQL with numbered parameters.
    pub sql: String,
    /// Their values.
    pub parameters: Vec<Value>,
}

/// Compiles an expression.
pub fn compile(subject: &'static Subject, expr: &Expr) -> Condition {
    compile_with(subject, expr, subject.text_index)
}

/// Compiles an expression without asking the text index: it found the rows already, or lacks some.
pub(super) fn compile_without_index(subject: &'static Subject, expr: &Expr) -> Condition {
    compile_with(subject, expr, None)
}

fn compile_with(
    subject: &'static Subject,
    expr: &Expr,
    text_index: Option<&'static str>,
) -> Condition {
    let mut compiler = Compiler {
        subject,
        text_index,
        out: Condition::default(),
    };
    compiler.expression(expr);
    compiler.out
}

struct Compiler {
    subject: &'static Subject,
    /// The text index, unless it is not to be asked.
    text_index: Option<&'static str>,
    out: Condition,
}

impl Compiler {
    fn text(&mut self, sql: &str) {
        self.out.sql.push_str(sql);
    }

    /// Binds a value and gives its place.
    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.out.parameters.push(value.into());
        format!("?{}", self.out.parameters.len())
    }

    fn expression(&mut self, expr: &Expr) {
        match expr {
            Expr::And(parts) => self.joined(parts, " AND ", "1"),
            Expr::Or(parts) => self.joined(parts, " OR ", "0"),
            // Not NOT: what is unknown about a row without a value does not hold, so its opposite
            // does.
            Expr::Not(negated) => {
                self.text("(");
                self.expression(negated);
                self.text(") IS NOT TRUE");
            }
            Expr::Field(field, test) => self.field(field, test),
            Expr::Count {
                place,
                kind,
                others,
                op,
                count,
            } => self.count(*place, kind.as_deref(), others, *op, *count),
            Expr::Document { path, test } => self.document(path, test),
            Expr::Statement { name, test } => self.statement(name, test),
            Expr::Message { channel, template } => {
                let channel = self.bind(channel.clone());
                let template = self.bind(template.clone());
                let sql = self.subject.messages.unwrap_or("0");
                let sql = sql
                    .replace(":channel", &channel)
                    .replace(":template", &template);
                self.text(&sql);
            }
            Expr::Batch { device } => {
                let device = self.bind(*device);
                let sql = self
                    .subject
                    .batches
                    .unwrap_or("0")
                    .replace(":device", &device);
                self.text(&sql);
            }
        }
    }

    fn joined(&mut self, parts: &[Expr], between: &str, none: &str) {
        if parts.is_empty() {
            return self.text(none);
        }
        for (index, part) in parts.iter().enumerate() {
            self.text(if index > 0 { between } else { "" });
            self.text("(");
            self.expression(part);
            self.text(")");
        }
    }

    fn field(&mut self, field: &SearchField, test: &Test) {
        let column = field.column;
        match test {
            Test::Compare(op, scalar) => {
                if let (Op::Equal, Scalar::Text(text)) = (op, scalar) {
                    self.narrow(field, text);
                }
                match field.kind {
                    FieldKind::Text => self.compare_text(column, *op, scalar),
                    FieldKind::Time => self.compare_time(column, *op, scalar),
                    FieldKind::Number | FieldKind::Flag => self.compare(column, *op, scalar),
                    FieldKind::Reference => self.compare_reference(column, *op, scalar),
                }
            }
            Test::Contains(part) => {
                self.narrow(field, part);
                let part = self.bind(part.clone());
                let _ = write!(self.out.sql, "text_contains({column}, {part})");
            }
            Test::In(scalars) => self.field_in(field, scalars),
        }
    }

    /// Has the text index find the rows that may match, where it can.
    fn narrow(&mut self, field: &SearchField, text: &str) {
        let (Some(index), true) = (self.text_index, field.text_indexed) else {
            return;
        };
        if let Some(query) = index_query(field.column, text) {
            let query = self.bind(query);
            let _ = write!(
                self.out.sql,
                "id IN (SELECT rowid FROM {index} WHERE {index} MATCH {query}) AND "
            );
        }
    }

    fn compare(&mut self, value: &str, op: Op, scalar: &Scalar) {
        let sql = match (op, scalar) {
            (Op::Equal, Scalar::Null) => format!("{value} IS NULL"),
            (Op::Unequal, Scalar::Null) => format!("{value} IS NOT NULL"),
            (Op::Unequal, scalar) => format!("{value} IS NOT {}", self.scalar(scalar)),
            (op, scalar) => format!("{value} {} {}", op.sql(), self.scalar(scalar)),
        };
        self.text(&sql);
    }

    /// An empty text is no value (contract §2).
    fn compare_text(&mut self, column: &str, op: Op, scalar: &Scalar) {
        match (op, scalar) {
            (Op::Equal, Scalar::Null) => {
                let _ = write!(self.out.sql, "({column} IS NULL OR {column} = '')");
            }
            (Op::Unequal, Scalar::Null) => {
                let _ = write!(self.out.sql, "{column} <> ''");
            }
            (op, scalar) if op.is_order() => {
                let _ = write!(self.out.sql, "{column} <> '' AND ");
                self.compare(column, op, scalar);
            }
            (op, scalar) => self.compare(column, op, scalar),
        }
    }

    /// A time written in whole seconds stands for the second.
    fn compare_time(&mut self, column: &str, op: Op, scalar: &Scalar) {
        let Scalar::Time(first, last) = scalar else {
            return self.compare(column, op, scalar);
        };
        let second = |compiler: &mut Self| {
            let (first, last) = (compiler.bind(*first), compiler.bind(*last));
            format!("{column} BETWEEN {first} AND {last}")
        };
        let sql = match op {
            Op::Equal => second(self),
            Op::Unequal => format!("({}) IS NOT TRUE", second(self)),
            Op::Less | Op::GreaterOrEqual => format!("{column} {} {}", op.sql(), self.bind(*first)),
            Op::LessOrEqual | Op::Greater => format!("{column} {} {}", op.sql(), self.bind(*last)),
        };
        self.text(&sql);
    }

    /// The record that a reference refers to, as answers show it: a deleted one is left out.
    fn referred(&self, column: &str) -> String {
        let table = self.subject.table;
        format!(
            "(SELECT r.id FROM {table} r WHERE r.id = {table}.{column} AND r.deleted_at IS NULL)"
        )
    }

    fn compare_reference(&mut self, column: &str, op: Op, scalar: &Scalar) {
        let referred = self.referred(column);
        if op == Op::Equal && *scalar != Scalar::Null {
            // The column has an index.
            self.compare(column, op, scalar);
            let _ = write!(self.out.sql, " AND {referred} IS NOT NULL");
        } else {
            self.compare(&referred, op, scalar);
        }
    }

    fn field_in(&mut self, field: &SearchField, scalars: &[Scalar]) {
        let column = field.column;
        self.text("(");
        if field.kind == FieldKind::Reference {
            let _ = write!(self.out.sql, "{} IS NOT NULL AND ", self.referred(column));
        }
        if field.kind == FieldKind::Time {
            let seconds = scalars.iter().filter_map(|scalar| match scalar {
                Scalar::Time(first, last) => Some(serde_json::json!([first, last])),
                _ => None,
            });
            let seconds = self.bind(seconds.collect::<serde_json::Value>().to_string());
            let _ = write!(
                self.out.sql,
                "EXISTS (SELECT 1 FROM json_each({seconds}) second
                         WHERE {column} BETWEEN second.value ->> 0 AND second.value ->> 1)"
            );
        } else {
            let values = self.bind(json_list(scalars));
            let _ = write!(
                self.out.sql,
                "{column} IN (SELECT value FROM json_each({values}))"
            );
        }
        if scalars.contains(&Scalar::Null) {
            self.text(" OR ");
            match field.kind {
                FieldKind::Text => self.compare_text(column, Op::Equal, &Scalar::Null),
                FieldKind::Reference => self.compare_reference(column, Op::Equal, &Scalar::Null),
                _ => self.compare(column, Op::Equal, &Scalar::Null),
            }
        }
        self.text(")");
    }

    fn count(
        &mut self,
        place: usize,
        kind: Option<&str>,
        others: &[(&'static str, Vec<i64>)],
        op: Op,
        count: i64,
    ) {
        let Some(counted) = &self.subject.counted else {
            return self.text("0");
        };
        let own = counted.own[place];
        let mut of_them = String::new();
        if let Some(kind) = kind {
            let _ = write!(
                of_them,
                " AND {} = {}",
                counted.kind,
                self.bind(kind.to_owned())
            );
        }
        for (column, ids) in others {
            let ids = self.bind(serde_json::json!(ids).to_string());
            let _ = write!(
                of_them,
                " AND {column} IN (SELECT value FROM json_each({ids}))"
            );
        }
        let (table, interactions) = (self.subject.table, counted.table);
        let sql = if others.is_empty() {
            // Few interactions a record, and any number in all: each record looks at its own.
            let own = format!("FROM {interactions} WHERE {own} = {table}.id{of_them}");
            match any_or_none(op, count) {
                Some(true) => format!("EXISTS (SELECT 1 {own})"),
                Some(false) => format!("NOT EXISTS (SELECT 1 {own})"),
                None => format!("(SELECT count(*) {own}) {} {}", op.sql(), self.bind(count)),
            }
        } else {
            // Those at a device are found by its index; who is not among them has none.
            let among =
                format!("(SELECT {own} FROM {interactions} WHERE {own} IS NOT NULL{of_them}");
            match any_or_none(op, count) {
                Some(true) => format!("id IN {among})"),
                Some(false) => format!("id NOT IN {among})"),
                None => {
                    let (member, holds) = if op.holds(0, count) {
                        ("NOT IN", "NOT ")
                    } else {
                        ("IN", "")
                    };
                    let (op, count) = (op.sql(), self.bind(count));
                    format!(
                        "id {member} {among} GROUP BY {own} HAVING {holds}(count(*) {op} {count}))"
                    )
                }
            }
        };
        self.text(&sql);
    }

    fn document(&mut self, keys: &[String], test: &Test) {
        let path = self.bind(json_path(keys));
        let document = self.subject.document;
        let own = |function: &str| format!("{function}({document}, {path})");
        let (kind, value) = match self.subject.shared {
            None => (own("json_type"), own("json_extract")),
            Some(column) => {
                let places = self.bind(places(keys));
                // Only where a mark stands in its place: keys of objects alone lead there.
                let shared = format!(
                    "FROM json_each({places}) p, json_each(iif(json_valid({column}), {column}, '[]')) s
                     JOIN shared_values v ON v.id = s.value ->> 1
                     WHERE s.value ->> 0 = p.value ->> 0
                     AND json_type({document}, p.value ->> 2) = 'object'"
                );
                let read = |function| {
                    format!(
                        "iif({column} IS NULL OR NOT EXISTS (SELECT 1 {shared}), {own},
                             (SELECT {function}(v.value, p.value ->> 1) {shared}))",
                        own = own(function)
                    )
                };
                (read("json_type"), read("json_extract"))
            }
        };
        self.typed(test, |wanted| match wanted {
            Wanted::Null => format!("coalesce({kind}, 'null') = 'null'"),
            Wanted::Text(test) => format!("({kind} = 'text' AND {value} {test})"),
            Wanted::Number(test) => format!("({kind} IN ('integer', 'real') AND {value} {test})"),
            Wanted::Flag(flag) => format!("{kind} = '{flag}'"),
            Wanted::Contains(part) => {
                format!("({kind} = 'text' AND text_contains({value}, {part}))")
            }
        });
    }

    fn statement(&mut self, name: &str, test: &Test) {
        let name = self.bind(name.to_owned());
        let value = |kind: &str| format!("statement_value({name}, '{kind}', id)");
        self.typed(test, |wanted| match wanted {
            Wanted::Null => format!("{} IS NULL", value("any")),
            Wanted::Text(test) => format!("{} {test}", value("text")),
            Wanted::Number(test) => format!("{} {test}", value("number")),
            Wanted::Flag(flag) => format!("{} = {}", value("number"), i64::from(flag)),
            Wanted::Contains(part) => format!("text_contains({}, {part})", value("text")),
        });
    }

    /// Compares a value whose kind is known with the row only: one of another kind never matches.
    fn typed(&mut self, test: &Test, sql: impl Fn(Wanted<'_>) -> String) {
        match test {
            Test::Contains(part) => {
                let part = self.bind(part.clone());
                self.text(&sql(Wanted::Contains(&part)));
            }
            Test::Compare(Op::Unequal, scalar) => {
                self.text("(");
                self.typed_one(Op::Equal, scalar, &sql);
                self.text(") IS NOT TRUE");
            }
            Test::Compare(op, scalar) => self.typed_one(*op, scalar, &sql),
            Test::In(scalars) => {
                let (texts, others): (Vec<_>, Vec<_>) = scalars
                    .iter()
                    .cloned()
                    .partition(|scalar| matches!(scalar, Scalar::Text(_)));
                let (numbers, others): (Vec<_>, Vec<_>) = others
                    .into_iter()
                    .partition(|scalar| matches!(scalar, Scalar::Integer(_) | Scalar::Real(_)));
                let texts = self.bind(json_list(&texts));
                let among = format!("IN (SELECT value FROM json_each({texts}))");
                self.text(&format!("({}", sql(Wanted::Text(&among))));
                let numbers = self.bind(json_list(&numbers));
                let among = format!("IN (SELECT value FROM json_each({numbers}))");
                self.text(&format!(" OR {}", sql(Wanted::Number(&among))));
                for scalar in [Scalar::Null, Scalar::Flag(false), Scalar::Flag(true)] {
                    if others.contains(&scalar) {
                        self.text(" OR ");
                        self.typed_one(Op::Equal, &scalar, &sql);
                    }
                }
                self.text(")");
            }
        }
    }

    fn typed_one(&mut self, op: Op, scalar: &Scalar, sql: &impl Fn(Wanted<'_>) -> String) {
        let wanted = match scalar {
            Scalar::Null => sql(Wanted::Null),
            Scalar::Flag(flag) => sql(Wanted::Flag(*flag)),
            scalar => {
                let test = format!("{} {}", op.sql(), self.scalar(scalar));
                match scalar {
                    Scalar::Text(_) => sql(Wanted::Text(&test)),
                    _ => sql(Wanted::Number(&test)),
                }
            }
        };
        self.text(&wanted);
    }

    fn scalar(&mut self, scalar: &Scalar) -> String {
        self.bind(match scalar {
            Scalar::Null => Value::Null,
            Scalar::Flag(flag) => Value::Integer(i64::from(*flag)),
            Scalar::Integer(number) => Value::Integer(*number),
            Scalar::Real(number) => Value::Real(*number),
            Scalar::Text(text) => Value::Text(text.clone()),
            Scalar::Time(first, _) => Value::Integer(*first),
        })
    }
}

/// Returns whether a comparison of a count asks just for any (true) or none (false).
fn any_or_none(op: Op, count: i64) -> Option<bool> {
    match (op, count) {
        (Op::GreaterOrEqual, 1) | (Op::Greater | Op::Unequal, 0) => Some(true),
        (Op::Less, 1) | (Op::LessOrEqual | Op::Equal, 0) => Some(false),
        _ => None,
    }
}

/// The path of keys as SQLite takes it.
fn json_path(keys: &[String]) -> String {
    keys.iter().fold(String::from("$"), |path, key| {
        format!("{path}.{}", serde_json::Value::from(key.as_str()))
    })
}

/// Lists the places that a value of these keys may come from: each place at it or above it, as a JSON Pointer, with the
/// path from there on, and the path there.
fn places(keys: &[String]) -> String {
    let mut pointer = String::new();
    let mut places = Vec::with_capacity(keys.len() + 1);
    for at in 0..=keys.len() {
        let (there, on) = keys.split_at(at);
        places.push(serde_json::json!([
            pointer,
            json_path(on),
            json_path(there)
        ]));
        if let Some(key) = on.first() {
            pointer = format!("{pointer}/{}", json::pointer_part(key));
        }
    }
    serde_json::Value::from(places).to_string()
}

/// A test of a value by its kind; the texts are SQL.
enum Wanted<'a> {
    Null,
    Text(&'a str),
    Number(&'a str),
    Flag(bool),
    Contains(&'a str),
}

/// The values as a JSON list, without null: one parameter, however many there are.
fn json_list(scalars: &[Scalar]) -> String {
    let values: Vec<serde_json::Value> = scalars
        .iter()
        .filter_map(|scalar| match scalar {
            Scalar::Null => None,
            Scalar::Flag(flag) => Some(i64::from(*flag).into()),
            Scalar::Integer(number) => Some((*number).into()),
            Scalar::Real(number) => Some((*number).into()),
            Scalar::Text(text) => Some(text.as_str().into()),
            Scalar::Time(first, _) => Some((*first).into()),
        })
        .collect();
    serde_json::Value::Array(values).to_string()
}
