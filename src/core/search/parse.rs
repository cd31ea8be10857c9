//! JSON to a checked expression.

use super::{
    catalogue::{FieldKind, SearchField, Subject},
    expression::{Expr, Op, Scalar, Test},
};
use crate::types::{
    Zone,
    error::{Error, Kind, Result},
    json,
    text::{INTERACTION_TYPE_MAX_BYTES, fold, is_interaction_type, shortened, whole, with_article},
};
use serde_json::Value;
use std::fmt::Write;

/// The most levels that expressions may nest (contract §5).
const DEPTH_MAX: usize = 16;
/// The most terms of an expression (contract §5).
const TERMS_MAX: usize = 256;
/// The most values of an `in` (contract §5).
const VALUES_MAX: usize = 10_000;

const OPERATORS: &str = "== != > >= < <= *= in and or not fi si ti ud st comms batch";

/// Reads an expression, see [`super::Search::parse`].
///
/// # Errors
/// [`Kind::InvalidSearch`], with the path to the fault.
pub fn parse(
    subject: &'static Subject,
    text: &str,
    zone: &Zone,
    visible: Option<&[String]>,
) -> Result<Expr> {
    let fault = |what: String| Error::new(Kind::InvalidSearch, what).at("search");
    json::check_limits(text.as_bytes()).map_err(|cause| fault(cause.to_string()))?;
    let value = json::read_whole(text).map_err(|cause| fault(json::fault(&cause)))?;
    let mut parser = Parser {
        subject,
        zone,
        visible,
        terms: 0,
        path: Vec::new(),
    };
    parser.expression(&value)
}

enum Step {
    Operator(String),
    Index(usize),
}

struct Parser<'a> {
    subject: &'static Subject,
    zone: &'a Zone,
    visible: Option<&'a [String]>,
    terms: usize,
    path: Vec<Step>,
}

impl Parser<'_> {
    fn expression(&mut self, value: &Value) -> Result<Expr> {
        let operators = self.path.iter();
        let depth = operators
            .filter(|step| matches!(step, Step::Operator(_)))
            .count();
        if depth >= DEPTH_MAX {
            return Err(self.fault(format!("a search may nest at most {DEPTH_MAX} deep")));
        }
        let only = value.as_object().filter(|object| object.len() == 1);
        let Some((operator, operand)) = only.and_then(|object| object.iter().next()) else {
            return Err(self.fault(
                "must be an object with one operator, such as {\"==\": [\"lastName\", \"Lovelace\"]}",
            ));
        };
        self.path.push(Step::Operator(operator.clone()));
        let expr = self.operation(operator, operand)?;
        self.path.pop();
        Ok(expr)
    }

    fn operation(&mut self, operator: &str, operand: &Value) -> Result<Expr> {
        // What joins others is as large as they are.
        let joins = match operator {
            "and" | "or" => operand.as_array().is_some_and(|parts| !parts.is_empty()),
            "not" => true,
            _ => false,
        };
        self.terms += usize::from(!joins);
        if self.terms > TERMS_MAX {
            return Err(self.fault(format!("a search may have at most {TERMS_MAX} terms")));
        }
        match operator {
            "and" => self.all(operand).map(Expr::And),
            "or" => self.all(operand).map(Expr::Or),
            "not" => self.negation(operand),
            "fi" => self.count(0, operand),
            "si" => self.count(1, operand),
            "ti" => self.count(2, operand),
            "ud" => self.document(operand),
            "st" => self.statement(operand),
            "comms" => self.message(operand),
            "batch" => self.batch(operand),
            "in" | "*=" => self.comparison(operator, operand),
            _ if Op::parse(operator).is_some() => self.comparison(operator, operand),
            _ => Err(self.fault(format!("there is no such operator; there are {OPERATORS}"))),
        }
    }

    fn all(&mut self, operand: &Value) -> Result<Vec<Expr>> {
        let Value::Array(parts) = operand else {
            return Err(self.fault("must be a list of expressions"));
        };
        let mut all = Vec::with_capacity(parts.len().min(TERMS_MAX));
        for (index, part) in parts.iter().enumerate() {
            self.path.push(Step::Index(index));
            all.push(self.expression(part)?);
            self.path.pop();
        }
        Ok(all)
    }

    /// `{"not": expression}`, or the expression in a list of one, as the other operators have it.
    fn negation(&mut self, operand: &Value) -> Result<Expr> {
        let negated = match operand {
            Value::Array(_) => match <[Expr; 1]>::try_from(self.all(operand)?) {
                Ok([negated]) => negated,
                Err(_) => return Err(self.fault("takes one expression")),
            },
            _ => self.expression(operand)?,
        };
        Ok(Expr::Not(Box::new(negated)))
    }

    fn comparison(&mut self, operator: &str, operand: &Value) -> Result<Expr> {
        let [name, value] = self.operands(operand, "[field, value]")?;
        let field = self.field(name)?;
        self.path.push(Step::Index(1));
        let test = self.test(operator, value, Some(field))?;
        self.path.pop();
        Ok(Expr::Field(field, test))
    }

    fn field(&mut self, name: &Value) -> Result<&'static SearchField> {
        let field = name
            .as_str()
            .and_then(|name| self.subject.field(name))
            .filter(|field| self.sees(field.name));
        field.ok_or_else(|| {
            let names: Vec<&str> = self
                .subject
                .fields
                .iter()
                .map(|field| field.name)
                .filter(|name| self.sees(name))
                .collect();
            self.path.push(Step::Index(0));
            self.fault(format!(
                "{} is no field of {}; there are {}",
                shortened(&name.to_string()),
                with_article(self.subject.name),
                names.join(" ")
            ))
        })
    }

    fn sees(&self, property: &str) -> bool {
        // The id stands in every answer.
        property == "id"
            || self
                .visible
                .is_none_or(|visible| visible.iter().any(|name| name == property))
    }

    /// Reads the value that a field, or a value of unknown kind, is compared with.
    fn test(&mut self, operator: &str, value: &Value, field: Option<&SearchField>) -> Result<Test> {
        match operator {
            "*=" => match value {
                Value::String(_) if field.is_some_and(|field| field.kind != FieldKind::Text) => {
                    Err(self.fault("*= searches texts only"))
                }
                Value::String(part) if !part.is_empty() => Ok(Test::Contains(fold(part))),
                _ => Err(self.fault("must be a text to search for")),
            },
            "in" => self.list(value, field).map(Test::In),
            _ => {
                let Some(op) = Op::parse(operator) else {
                    return Err(self.fault("must be one of == != > >= < <= *= in"));
                };
                let scalar = self.scalar(value, field)?;
                let ordered = !matches!(scalar, Scalar::Null | Scalar::Flag(_));
                if op.is_order() && !ordered {
                    return Err(self.fault("has no order; use == or !="));
                }
                Ok(Test::Compare(op, scalar))
            }
        }
    }

    fn list(&mut self, value: &Value, field: Option<&SearchField>) -> Result<Vec<Scalar>> {
        let Value::Array(values) = value else {
            return Err(self.fault("must be a list of values"));
        };
        if values.len() > VALUES_MAX {
            return Err(self.fault(format!("takes at most {VALUES_MAX} values")));
        }
        let mut scalars = Vec::with_capacity(values.len());
        for (index, value) in values.iter().enumerate() {
            self.path.push(Step::Index(index));
            scalars.push(self.scalar(value, field)?);
            self.path.pop();
        }
        Ok(scalars)
    }

    fn scalar(&self, value: &Value, field: Option<&SearchField>) -> Result<Scalar> {
        let Some(field) = field else {
            return match value {
                Value::Null => Ok(Scalar::Null),
                Value::Bool(flag) => Ok(Scalar::Flag(*flag)),
                Value::String(text) => Ok(Scalar::Text(text.clone())),
                Value::Number(number) => Ok(number
                    .as_i64()
                    .map(Scalar::Integer)
                    .or_else(|| number.as_f64().map(Scalar::Real))
                    .unwrap_or(Scalar::Null)),
                _ => Err(self.fault("must be a text, a number, true, false or null")),
            };
        };
        let scalar = match (field.kind, value) {
            (_, Value::Null) => Some(Scalar::Null),
            (FieldKind::Text, Value::String(text)) if text.is_empty() => Some(Scalar::Null),
            (FieldKind::Text, Value::String(text)) => Some(Scalar::Text(text.clone())),
            (FieldKind::Number | FieldKind::Reference, Value::Number(number)) => {
                number.as_i64().map(Scalar::Integer)
            }
            (FieldKind::Flag, Value::Bool(flag)) => Some(Scalar::Flag(*flag)),
            (FieldKind::Time, _) => self.zone.read("", value).ok().map(|at| {
                let last = if at.0 % 1000 == 0 { at.0 + 999 } else { at.0 };
                Scalar::Time(at.0, last)
            }),
            _ => None,
        };
        scalar.ok_or_else(|| {
            self.fault(match field.kind {
                FieldKind::Number | FieldKind::Reference
                    if value.as_f64().is_some_and(|number| number.fract() == 0.0) =>
                {
                    "is out of range, or has a decimal point; an id is a whole number"
                }
                FieldKind::Number | FieldKind::Reference => "must be a whole number or null",
                FieldKind::Text => "must be a text or null",
                FieldKind::Flag => "must be true, false or null",
                FieldKind::Time => "must be yyyy-mm-dd hh:mm:ss, ISO 8601, Unix seconds or null",
            })
        })
    }

    /// `[type, {"firstDevice": [12]}, ">= 1"]`; without a filter any, without a count at least one.
    fn count(&mut self, place: usize, operand: &Value) -> Result<Expr> {
        let shape = "[interaction type, {filters}, \">= 1\"]";
        let Some(counted) = &self.subject.counted else {
            return Err(self.fault(format!(
                "{} has no interactions",
                with_article(self.subject.name)
            )));
        };
        if !self.sees(counted.shown_as[place]) {
            return Err(self.fault("is not available to this client"));
        }
        let parts = operand
            .as_array()
            .filter(|parts| (1..=3).contains(&parts.len()));
        let Some(parts) = parts else {
            return Err(self.fault(format!("must be {shape}")));
        };
        let kind = match &parts[0] {
            Value::String(any) if any == "*" => None,
            Value::String(kind) if is_interaction_type(kind) => Some(kind.clone()),
            Value::String(kind) => {
                let fault = format!(
                    "\"{}\" is no interaction type: it has 1 to {INTERACTION_TYPE_MAX_BYTES} of a-z 0-9 -, the first not -",
                    shortened(kind)
                );
                return Err(self.fault_at(0, &fault));
            }
            _ => return Err(self.fault_at(0, "must be an interaction type, or \"*\" for any")),
        };
        let others = match parts.get(1) {
            None => Vec::new(),
            Some(filters) => self.filters(&counted.others, filters)?,
        };
        let (op, count) = match parts.get(2) {
            None => (Op::GreaterOrEqual, 1),
            Some(count) => count
                .as_str()
                .ok_or("must be a comparison such as \">= 1\"")
                .and_then(comparison_of_count)
                .map_err(|fault| self.fault_at(2, fault))?,
        };
        Ok(Expr::Count {
            place,
            kind,
            others,
            op,
            count,
        })
    }

    fn filters(
        &mut self,
        known: &[(&'static str, &'static str)],
        filters: &Value,
    ) -> Result<Vec<(&'static str, Vec<i64>)>> {
        let Value::Object(filters) = filters else {
            return Err(self.fault_at(1, &format!("must be an object with {}", names_of(known))));
        };
        let mut others = Vec::new();
        for (name, ids) in filters {
            let Some((_, column)) = known.iter().find(|(known, _)| known == name) else {
                let fault = format!(
                    "\"{}\" is no filter; there are {}",
                    shortened(name),
                    names_of(known)
                );
                return Err(self.fault_at(1, &fault));
            };
            let ids: Option<Vec<i64>> = ids
                .as_array()
                .filter(|ids| ids.len() <= VALUES_MAX)
                .and_then(|ids| ids.iter().map(Value::as_i64).collect());
            let Some(ids) = ids else {
                let fault = format!("{name}: must be a list of at most {VALUES_MAX} ids");
                return Err(self.fault_at(1, &fault));
            };
            others.push((*column, ids));
        }
        Ok(others)
    }

    /// `["Section.key", operator, value]`; keys with a dot in them stand in a list,
    /// `[["Section", "key no. 1"], operator, value]`.
    fn document(&mut self, operand: &Value) -> Result<Expr> {
        if !self.sees("data") {
            return Err(self.fault("is not available to this client"));
        }
        let [path, operator, value] =
            self.operands(operand, "[\"Section.key\", operator, value]")?;
        let path: Vec<String> = match path {
            Value::String(path) => path.split('.').map(ToOwned::to_owned).collect(),
            Value::Array(keys) => keys
                .iter()
                .map(|key| key.as_str().unwrap_or_default().to_owned())
                .collect(),
            _ => Vec::new(),
        };
        // An interaction's data has no sections.
        let shortest = if self.subject.counted.is_some() { 2 } else { 1 };
        if path.len() < shortest || path.iter().any(|key| key.is_empty() || key.contains('\0')) {
            return Err(self.fault_at(0, "must be a section and a key, such as \"Data.badge\"; where one has a dot, [\"Data\", \"Order no.\"]"));
        }
        let test = self.test_of(operator, value)?;
        Ok(Expr::Document { path, test })
    }

    /// `[name, operator, value]`.
    fn statement(&mut self, operand: &Value) -> Result<Expr> {
        if !self.subject.statements || self.visible.is_some() {
            return Err(self.fault("statements are not available here"));
        }
        let [name, operator, value] =
            self.operands(operand, "[statement name, operator, value]")?;
        let Some(name) = name.as_str() else {
            return Err(self.fault_at(0, "must be a statement's name"));
        };
        let test = self.test_of(operator, value)?;
        Ok(Expr::Statement {
            name: name.to_owned(),
            test,
        })
    }

    fn test_of(&mut self, operator: &Value, value: &Value) -> Result<Test> {
        let known = |name: &&str| matches!(*name, "*=" | "in") || Op::parse(name).is_some();
        let Some(operator) = operator.as_str().filter(known) else {
            return Err(self.fault_at(1, "must be one of == != > >= < <= *= in"));
        };
        self.path.push(Step::Index(2));
        let test = self.test(operator, value, None)?;
        self.path.pop();
        Ok(test)
    }

    /// `[type, slug]`; any template without the slug.
    fn message(&mut self, operand: &Value) -> Result<Expr> {
        if self.subject.messages.is_none() || self.visible.is_some() {
            return Err(self.fault("messages are not available here"));
        }
        let parts = operand.as_array().map(Vec::as_slice).unwrap_or_default();
        let channel = match parts.first().and_then(Value::as_str) {
            Some(channel @ ("email" | "sms")) => channel.to_owned(),
            _ => return Err(self.fault("must be [\"email\" or \"sms\", template slug]")),
        };
        let template = match &parts[1..] {
            [] => None,
            [Value::String(slug)] => Some(slug.clone()),
            _ => return Err(self.fault_at(1, "must be a template's slug")),
        };
        Ok(Expr::Message { channel, template })
    }

    /// `[device id]`; any batch without it.
    fn batch(&mut self, operand: &Value) -> Result<Expr> {
        if self.subject.batches.is_none() || self.visible.is_some() {
            return Err(self.fault("batches are not available here"));
        }
        let device = match operand.as_array().map(Vec::as_slice) {
            Some([]) => None,
            Some([device]) if device.is_i64() => device.as_i64(),
            _ => return Err(self.fault("must be [device id] or []")),
        };
        Ok(Expr::Batch { device })
    }

    fn operands<'v, const N: usize>(
        &self,
        operand: &'v Value,
        shape: &str,
    ) -> Result<&'v [Value; N]> {
        operand
            .as_array()
            .and_then(|parts| parts.as_slice().try_into().ok())
            .ok_or_else(|| self.fault(format!("must be {shape}")))
    }

    fn fault_at(&mut self, index: usize, what: &str) -> Error {
        self.path.push(Step::Index(index));
        self.fault(what)
    }

    fn fault(&self, what: impl AsRef<str>) -> Error {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
                Step::Operator(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    let name = shortened(name);
                    if name.chars().all(|sign| sign.is_ascii_alphanumeric()) {
                        path.push_str(&name);
                    } else {
                        let _ = write!(path, "\"{name}\"");
                    }
                }
            }
        }
        let path = if path.is_empty() { "search" } else { &path };
        Error::new(Kind::InvalidSearch, what.as_ref()).at(path)
    }
}

fn names_of(filters: &[(&'static str, &'static str)]) -> String {
    let names: Vec<&str> = filters.iter().map(|(name, _)| *name).collect();
    names.join(" ")
}

/// Reads `>= 1`.
fn comparison_of_count(text: &str) -> Result<(Op, i64), &'static str> {
    let unreadable = "must be a comparison such as \">= 1\"";
    let text = text.trim();
    let digits = text.find(|sign: char| sign.is_ascii_digit());
    let (op, count) = text.split_at(digits.ok_or(unreadable)?);
    let op = Op::parse(op.trim_end()).ok_or(unreadable)?;
    match whole(count) {
        Ok(count) => Ok((op, count)),
        Err("is out of range") => Err("is out of range"),
        Err(_) => Err(unreadable),
    }
}
