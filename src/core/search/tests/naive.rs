//! The meaning of a search, told a second time and as plainly as possible: over JSON, row by row, without SQL.

use serde_json::Value;

/// A delegate with what belongs to it.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its properties as the API names them; times in milliseconds.
    pub properties: serde_json::Map<String, Value>,
    /// Its `data`.
    pub data: Value,
    /// Type, place of the delegate (0 to 2), and the devices in their places.
    pub interactions: Vec<(String, usize, [Option<i64>; 3])>,
    /// Channel and template of the messages that were sent to it.
    pub messages: Vec<(String, String)>,
    /// The devices of the batches it came in by.
    pub batches: Vec<Option<i64>>,
}

/// Returns whether an expression that was accepted holds of a row.
pub fn holds(expr: &Value, row: &Row) -> bool {
    let (operator, operand) = expr.as_object().unwrap().iter().next().unwrap();
    match operator.as_str() {
        "and" => operand
            .as_array()
            .unwrap()
            .iter()
            .all(|part| holds(part, row)),
        "or" => operand
            .as_array()
            .unwrap()
            .iter()
            .any(|part| holds(part, row)),
        "not" => !holds(operand, row),
        "fi" | "si" | "ti" => counted(operator, operand, row),
        "ud" => {
            let found = operand[0]
                .as_str()
                .unwrap()
                .split('.')
                .try_fold(&row.data, |within, key| within.as_object()?.get(key));
            compares(
                operand[1].as_str().unwrap(),
                found.unwrap_or(&Value::Null),
                &operand[2],
            )
        }
        "comms" => row.messages.iter().any(|(channel, template)| {
            operand[0] == channel.as_str()
                && (operand[1].is_null() || operand[1] == template.as_str())
        }),
        "batch" => row
            .batches
            .iter()
            .any(|device| operand[0].is_null() || operand[0].as_i64() == *device),
        _ => {
            let name = operand[0].as_str().unwrap();
            let stored = row.properties.get(name).unwrap_or(&Value::Null);
            if name.ends_with("At") {
                return of_time(operator, stored.as_i64().unwrap(), &operand[1]);
            }
            let none = |value: &Value| {
                if value == "" {
                    Value::Null
                } else {
                    value.clone()
                }
            };
            let wanted = match &operand[1] {
                Value::Array(values) => values.iter().map(none).collect(),
                value => none(value),
            };
            compares(operator, &none(stored), &wanted)
        }
    }
}

fn compares(operator: &str, stored: &Value, wanted: &Value) -> bool {
    if operator == "in" {
        let mut values = wanted.as_array().unwrap().iter();
        return values.any(|wanted| compares("==", stored, wanted));
    }
    if operator == "!=" {
        return !compares("==", stored, wanted);
    }
    let order = match (stored, wanted) {
        (Value::String(stored), Value::String(wanted)) => {
            if operator == "*=" {
                return stored.to_lowercase().contains(&wanted.to_lowercase());
            }
            stored.as_bytes().cmp(wanted.as_bytes())
        }
        (Value::Number(stored), Value::Number(wanted)) => stored
            .as_f64()
            .unwrap()
            .total_cmp(&wanted.as_f64().unwrap()),
        (stored, wanted) => return operator == "==" && stored == wanted,
    };
    in_order(operator, order)
}

fn in_order(operator: &str, order: std::cmp::Ordering) -> bool {
    match operator {
        "==" => order.is_eq(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => false,
    }
}

/// Times are written in whole seconds here, and stored ones count as the second they lie in.
fn of_time(operator: &str, stored_ms: i64, wanted: &Value) -> bool {
    let second = stored_ms.div_euclid(1000);
    match operator {
        "in" => wanted
            .as_array()
            .unwrap()
            .iter()
            .any(|wanted| of_time("==", stored_ms, wanted)),
        "!=" => !of_time("==", stored_ms, wanted),
        _ => wanted
            .as_i64()
            .is_some_and(|wanted| in_order(operator, second.cmp(&wanted))),
    }
}

fn counted(operator: &str, operand: &Value, row: &Row) -> bool {
    let place = ["fi", "si", "ti"]
        .iter()
        .position(|known| *known == operator)
        .unwrap();
    let count = row
        .interactions
        .iter()
        .filter(|(kind, at, devices)| {
            *at == place
                && (operand[0] == "*" || operand[0] == kind.as_str())
                && operand[1].as_object().unwrap().iter().all(|(name, ids)| {
                    let names = ["firstDevice", "secondDevice", "thirdDevice"];
                    let device = devices[names.iter().position(|known| known == name).unwrap()];
                    device.is_some_and(|device| ids.as_array().unwrap().contains(&device.into()))
                })
        })
        .count();
    let (op, wanted) = operand[2].as_str().unwrap().split_once(' ').unwrap();
    let wanted: usize = wanted.parse().unwrap();
    if op == "!=" {
        return count != wanted;
    }
    in_order(op, count.cmp(&wanted))
}
