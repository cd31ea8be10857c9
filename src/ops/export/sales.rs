//! Purchases at tills, a line each: what was read of them, in the words of the API. Amounts are in
//! cents. They are not imported again: tills send them.

use super::rows::{Record, Value, selector};
use crate::types::{Timestamp, Zone, error::Result};
use rusqlite::Row;

/// The names of the values, in the order of the statement.
pub(super) const NAMES: [&str; 18] = [
    "id",
    "_type",
    "code",
    "context",
    "totalAmount",
    "notes",
    "createdAt",
    "recordedBy",
    "receivedAt",
    "cash",
    "card",
    "otherPayments",
    "transactions",
    "items",
    "delegates",
    "inconsistencies",
    "openInconsistencies",
    "revisions",
];

/// The statement, but for which of them.
pub(super) fn sql(end: &str) -> String {
    let device = |of: &str, column: &str| selector("devices", of, column, true);
    let net = |which: &str| {
        format!(
            "(SELECT sum(net) FROM transaction_payments p
             WHERE p.transaction_id = transactions.id AND {which})"
        )
    };
    format!(
        "SELECT id, 'transaction', code, {context}, total_amount, notes, bought_at, recorded_by, created_at,
             {cash}, {card}, {other},
             (SELECT json_group_array(json_object('paymentMethod', method, 'amount', amount, 'change', change,
                 'transactionId', reference) ORDER BY line)
              FROM transaction_payments p WHERE p.transaction_id = transactions.id),
             (SELECT json_group_array(json_object('code', i.code, 'product', {product}, 'quantity', quantity,
                 'description', description, 'unitAmount', unit_amount, 'totalAmount', i.total_amount,
                 'discountAmount', discount_amount) ORDER BY line)
              FROM transaction_items i WHERE i.transaction_id = transactions.id),
             (SELECT json_group_array(json_object('barcode', barcode, 'product', {ticket}) ORDER BY delegate_id)
              FROM transaction_delegates d WHERE d.transaction_id = transactions.id),
             (SELECT json_group_array(json_object('path', path, 'message', message,
                 'settled', json(iif(settled_at IS NULL, 'false', 'true')), 'note', note) ORDER BY n.id)
              FROM inconsistencies n JOIN transaction_bodies b ON b.id = n.body_id
              WHERE b.transaction_id = transactions.id),
             (SELECT count(*) FROM inconsistencies n JOIN transaction_bodies b ON b.id = n.body_id
              WHERE b.transaction_id = transactions.id AND settled_at IS NULL),
             (SELECT count(*) - 1 FROM transaction_bodies b WHERE b.transaction_id = transactions.id)
         FROM transactions WHERE TRUE {end}",
        context = device("transactions", "context_id"),
        cash = net("p.method = 'cash'"),
        card = net("p.method = 'card'"),
        other = net("p.method IS NOT 'cash' AND p.method IS NOT 'card'"),
        product = device("i", "product_id"),
        ticket = device("d", "product_id"),
    )
}

/// A purchase of the statement.
pub(super) fn read(row: &Row<'_>, zone: &Zone) -> Result<Record> {
    let mut values = Vec::with_capacity(NAMES.len());
    for (column, name) in NAMES.iter().enumerate() {
        let value = match *name {
            "createdAt" | "receivedAt" => {
                let at: Option<Timestamp> = row.get(column)?;
                at.map(|at| Value::Text(zone.iso(at)))
            }
            "transactions" | "items" | "delegates" | "inconsistencies" => {
                row.get::<_, Option<String>>(column)?.map(Value::Json)
            }
            "_type" | "code" | "context" | "notes" | "recordedBy" => {
                row.get::<_, Option<String>>(column)?.map(Value::Text)
            }
            _ => row
                .get::<_, Option<i64>>(column)?
                .map(|number| Value::Json(number.to_string())),
        };
        values.push(value.unwrap_or(Value::Nothing));
    }
    Ok(Record {
        id: row.get(0)?,
        values,
        data: None,
    })
}
