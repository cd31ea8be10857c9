//! A purchase as it is stored: what was read of it, in the words of the API. Amounts are in cents.

use crate::types::{DelegateCode, Timestamp, Zone, error::Result};
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Map, Value, json};

const LISTS: &str = "
    (SELECT json_group_array(json_object('paymentMethod', method, 'amount', amount, 'change', change,
         'transactionId', reference) ORDER BY line)
     FROM transaction_payments p WHERE p.transaction_id = t.id),
    (SELECT json_group_array(json_object('code', code, 'product', product_id, 'quantity', quantity,
         'description', description, 'unitAmount', unit_amount, 'totalAmount', total_amount,
         'discountAmount', discount_amount) ORDER BY line)
     FROM transaction_items i WHERE i.transaction_id = t.id),
    (SELECT json_group_array(
         json_patch(json_object('id', delegate_id, 'barcode', barcode, 'product', product_id), ?2) ORDER BY delegate_id)
     FROM transaction_delegates d WHERE d.transaction_id = t.id)";

/// Takes those properties of delegates out of an answer that its client does not see, as a merge patch.
pub fn hidden(visible: Option<&[String]>) -> &'static str {
    let barcode = DelegateCode::Barcode.name();
    if visible.is_none_or(|names| names.iter().any(|name| name == barcode)) {
        return "{}";
    }
    r#"{"barcode": null}"#
}

/// The purchase of an id, for a client that sees these properties of delegates; properties without a value
/// are left out.
pub fn find(
    connection: &Connection,
    id: i64,
    zone: &Zone,
    visible: Option<&[String]>,
) -> Result<Option<Value>> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT code, context_id, total_amount, notes, recorded_by, bought_at, created_at, updated_at, {LISTS}
             FROM transactions t WHERE id = ?1"
        ))?
        .query_row((id, hidden(visible)), |row| {
            let number = |at| row.get::<_, Option<i64>>(at).map(Value::from);
            let text = |at| row.get::<_, Option<String>>(at).map(Value::from);
            let time = |at| {
                let time: Option<Timestamp> = row.get(at)?;
                Ok::<_, rusqlite::Error>(Value::from(time.map(|time| zone.iso(time))))
            };
            let list = |at| {
                let list: String = row.get(at)?;
                Ok::<_, rusqlite::Error>(serde_json::from_str(&list).unwrap_or(Value::Null))
            };
            Ok([
                ("id", json!(id)),
                ("_type", json!("transaction")),
                ("code", text(0)?),
                ("context", number(1)?),
                ("totalAmount", number(2)?),
                ("notes", text(3)?),
                ("recordedBy", text(4)?),
                ("transactions", list(8)?),
                ("items", list(9)?),
                ("delegates", list(10)?),
                ("createdAt", time(5)?),
                ("receivedAt", time(6)?),
                ("updatedAt", time(7)?),
            ])
        })
        .optional()?;
    let is_set = |(_, value): &(&str, Value)| !value.is_null() && *value != json!([]);
    Ok(found.map(|properties| {
        let set = properties.into_iter().filter(is_set);
        Value::Object(
            set.map(|(name, value)| (name.to_owned(), value))
                .collect::<Map<_, _>>(),
        )
    }))
}
