//! The statements of a search: the condition, framed by what leads to the rows.

use super::{
    catalogue::Subject,
    compile::{Condition, compile, compile_without_index},
    expression::Expr,
    lead::{Key, Lead},
    order::Order,
    run::Part,
};
use crate::db::search_index;
use rusqlite::{Connection, params_from_iter, types::Value};
use std::collections::BTreeSet;

pub(super) struct Statement<'a> {
    connection: &'a Connection,
    subject: &'static Subject,
    lead: Lead,
    /// The condition that holds of the rows, and the values of its parameters.
    condition: String,
    parameters: Vec<Value>,
}

impl<'a> Statement<'a> {
    pub(super) fn of(
        connection: &'a Connection,
        subject: &'static Subject,
        expr: &Expr,
    ) -> rusqlite::Result<Self> {
        // Where the index lacks rows that changed, their texts are compared.
        let is_indexed = subject.text_index.is_some() && !search_index::is_behind(connection)?;
        let lead = Lead::of(connection, subject, expr, is_indexed)?;
        let Condition {
            sql,
            mut parameters,
        } = match lead {
            Lead::Text(_) => compile_without_index(subject, expr),
            _ if !is_indexed => compile_without_index(subject, expr),
            _ => compile(subject, expr),
        };
        match &lead {
            Lead::Text(query) => parameters.push(query.clone().into()),
            Lead::Keys(keys) => {
                parameters.extend(keys.iter().map(|key| Value::from(key.value.clone())));
            }
            _ => {}
        }
        Ok(Self {
            connection,
            subject,
            lead,
            condition: format!("{} AND ({sql})", subject.alive),
            parameters,
        })
    }

    /// Gives the ids of all that matches, ascending.
    pub(super) fn each(self, take: impl FnMut(i64)) -> rusqlite::Result<()> {
        let sql = self.select("1", "ASC");
        self.query(&sql, take)
    }

    /// Counts the matches, as far as `most`.
    pub(super) fn count(self, most: u64) -> rusqlite::Result<i64> {
        let mut count = 0;
        let sql = format!(
            "SELECT count(*) FROM ({} LIMIT {most})",
            self.select("1", "ASC")
        );
        self.query(&sql, |found| count = found)?;
        Ok(count)
    }

    /// Gives the ids of a part, the nearest first, `limit` at the most.
    pub(super) fn nearest(
        self,
        part: Part,
        limit: u64,
        take: impl FnMut(i64),
    ) -> rusqlite::Result<()> {
        if let Lead::Stretches(stretches) = &self.lead {
            self.nearest_of(stretches, part, limit)?
                .into_iter()
                .for_each(take);
            return Ok(());
        }
        let (bound, order) = match part {
            Part::After(id) => (format!("id > {id}"), "ASC"),
            Part::Before(id) => (format!("id < {id}"), "DESC"),
        };
        self.query(
            &format!("{} LIMIT {limit}", self.select(&bound, order)),
            take,
        )
    }

    /// Gives the ids and values of what is sorted, from a record on, `limit` at the most.
    pub(super) fn sorted(
        mut self,
        order: &Order,
        from: Option<(Part, &Value)>,
        offset: u64,
        limit: u64,
        mut take: impl FnMut(i64, Value),
    ) -> rusqlite::Result<()> {
        let matching = match &self.lead {
            Lead::Table | Lead::Stretches(_) => self.condition.clone(),
            _ => format!("id IN ({})", self.select("1", "ASC")),
        };
        let mut bound = "TRUE".to_owned();
        if let Some((part, key)) = from {
            let (Part::After(id) | Part::Before(id)) = part;
            let own = self.parameters.len();
            let [value, id_place] = [1, 2].map(|place| format!("?{}", own + place));
            bound = order.bound(part, key, &value, &id_place);
            self.parameters.extend([key.clone(), Value::Integer(id)]);
        }
        let in_order = order.direction(from.map(|(part, _)| part));
        let (table, key) = (self.subject.table, order.key());
        let sql = format!(
            "SELECT id, key FROM (SELECT id, {key} AS key FROM {table} WHERE {matching})
             WHERE {bound} ORDER BY {in_order} LIMIT {limit} OFFSET {offset}"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(&self.parameters))?;
        while let Some(row) = rows.next()? {
            take(row.get(0)?, row.get(1)?);
        }
        Ok(())
    }

    /// The statement that gives the ids within a bound, in order.
    fn select(&self, bound: &str, order: &str) -> String {
        let (table, condition) = (self.subject.table, &self.condition);
        match &self.lead {
            // The index gives ids in order; CROSS keeps SQLite from asking it about each row.
            Lead::Text(_) => {
                let index = self.subject.text_index.unwrap_or_default();
                let query = self.parameters.len();
                let bound = bound.replace("id ", "matched ");
                format!(
                    "SELECT id FROM (SELECT rowid AS matched FROM {index} WHERE {index} MATCH ?{query})
                     CROSS JOIN {table} ON id = matched
                     WHERE {bound} AND {condition} ORDER BY matched {order}"
                )
            }
            Lead::Keys(keys) => {
                let first = self.parameters.len() - keys.len() + 1;
                // Each is in the order of ids, and UNION merges them.
                let arm = |(parameter, key): (usize, &Key)| {
                    let Key {
                        column, expression, ..
                    } = key;
                    format!(
                        "SELECT id FROM {table} WHERE {column} IS NOT NULL AND {expression} = ?{parameter}
                         AND {bound} AND {condition}"
                    )
                };
                let arms: Vec<String> = (first..).zip(keys).map(arm).collect();
                format!("{} ORDER BY id {order}", arms.join(" UNION "))
            }
            Lead::Table | Lead::Stretches(_) => {
                format!("SELECT id FROM {table} WHERE {bound} AND {condition} ORDER BY id {order}")
            }
        }
    }

    /// As [`Statement::nearest`], of stretches of time that are each in order.
    fn nearest_of(
        &self,
        stretches: &[i64],
        part: Part,
        limit: u64,
    ) -> rusqlite::Result<BTreeSet<i64>> {
        let expression = self.subject.stretches.as_ref().map_or("", |s| s.expression);
        let (mut after, mut before, order) = match part {
            Part::After(id) => (id, i64::MAX, "ASC"),
            Part::Before(id) => (i64::MIN, id, "DESC"),
        };
        let (table, condition, own) = (self.subject.table, &self.condition, self.parameters.len());
        let mut statement = self.connection.prepare(&format!(
            "SELECT id FROM {table} WHERE {expression} = ?{} AND id > ?{} AND id < ?{} AND {condition}
             ORDER BY id {order} LIMIT {limit}",
            own + 1,
            own + 2,
            own + 3
        ))?;
        let mut nearest = BTreeSet::new();
        for stretch in stretches {
            let bounds = [*stretch, after, before].map(Value::Integer);
            let mut rows =
                statement.query(params_from_iter(self.parameters.iter().chain(&bounds)))?;
            while let Some(row) = rows.next()? {
                nearest.insert(row.get::<_, i64>(0)?);
            }
            while nearest.len() as u64 > limit {
                match part {
                    Part::After(_) => nearest.pop_last(),
                    Part::Before(_) => nearest.pop_first(),
                };
            }
            // What lies farther away than enough others need not be looked at.
            if nearest.len() as u64 == limit {
                match part {
                    Part::After(_) => before = nearest.last().copied().unwrap_or(before),
                    Part::Before(_) => after = nearest.first().copied().unwrap_or(after),
                }
            }
        }
        Ok(nearest)
    }

    fn query(&self, sql: &str, mut take: impl FnMut(i64)) -> rusqlite::Result<()> {
        // Not kept prepared: searches differ, and would push out what does not.
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params_from_iter(&self.parameters))?;
        while let Some(row) = rows.next()? {
            take(row.get(0)?);
        }
        Ok(())
    }
}
