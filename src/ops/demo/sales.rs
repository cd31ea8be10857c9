//! What was sold: passes at the box office in the weeks before, shirts and mugs at the shop. Times are
//! seconds after the begin of the event's first day, amounts are in cents.

use super::{
    people::{Part, Person},
    programme::DAY_MIN,
    random::Random,
    story::NOW_S,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Seconds of a day.
const DAY_S: i64 = DAY_MIN * 60;
/// Seconds of an hour.
const HOUR_S: i64 = 3_600;
/// What people bought for who came through the box office, of a hundred visitors.
const BOX_OFFICE_PERCENT: usize = 6;
/// Sales at the shop so far.
const SHOP_SALES: usize = 190;
/// Who sells at the box office.
const BOX_OFFICE: [&str; 2] = ["Noor", "Callum"];
/// Who sells at the shop.
const SHOP: [&str; 3] = ["Lena", "Thiago", "Callum"];
/// What there is: name, slug, price. The first is a ticket.
const PRODUCTS: [(&str, &str, i64); 5] = [
    ("Full Pass", "full-pass", 24_900),
    ("T-Shirt", "t-shirt", 2_500),
    ("Mug", "mug", 1_200),
    ("Tote Bag", "tote-bag", 900),
    ("Lunch Voucher", "lunch-voucher", 1_450),
];

/// A purchase.
#[derive(Debug, PartialEq)]
pub struct Sale {
    /// When.
    pub at_s: i64,
    /// The people whose passes they are, by their places; they follow each other.
    pub people: Vec<usize>,
    /// The body but for its context; a product is its place among the products.
    bodies: Vec<Value>,
}

impl Sale {
    /// What the till sends, in its order.
    pub fn bodies(&self, event: i64, products: &[i64], unix_s: i64) -> Vec<Vec<u8>> {
        let bodies = self.bodies.iter().cloned();
        bodies
            .map(|mut body| {
                body["context"] = event.into();
                body["createdAt"] = unix_s.into();
                let items = body["items"].as_array_mut();
                for item in items.into_iter().flatten() {
                    named(item, products);
                    let tickets = item["delegates"].as_array_mut();
                    for ticket in tickets.into_iter().flatten() {
                        named(ticket, products);
                    }
                }
                body.to_string().into_bytes()
            })
            .collect()
    }
}

/// Puts the product's id in the place of its place.
fn named(part: &mut Value, products: &[i64]) {
    let place = part["product"].as_u64();
    let place = place.and_then(|place| usize::try_from(place).ok());
    if let Some(id) = place.and_then(|place| products.get(place)) {
        part["product"] = (*id).into();
    }
}

/// Everything that was sold.
pub struct Sales {
    /// The products but for their parent.
    pub products: Vec<Map<String, Value>>,
    /// Sales of passes, in the order of their people.
    pub passes: Vec<Sale>,
    /// Sales at the shop, in the order of time.
    pub shop: Vec<Sale>,
}

impl Sales {
    /// When whose pass was sold.
    pub fn bought(&self) -> HashMap<usize, i64> {
        let passes = self.passes.iter();
        passes
            .flat_map(|sale| sale.people.iter().map(|person| (*person, sale.at_s)))
            .collect()
    }
}

/// Makes them up.
pub fn invent(random: &mut Random, people: &[Person]) -> Sales {
    let products = PRODUCTS.iter().map(|(name, slug, _)| {
        let body = json!({"name": name, "slug": slug, "code": random.uuid(), "publicId": random.uuid(), "deviceType": "product"});
        body.as_object().cloned().unwrap_or_default()
    });
    let products = products.collect();
    Sales {
        products,
        passes: sell_passes(random, people),
        shop: keep_shop(random),
    }
}

/// Some visitors came through the box office, alone or with those behind them in the queue.
fn sell_passes(random: &mut Random, people: &[Person]) -> Vec<Sale> {
    let mut sales = Vec::new();
    let mut person = 0;
    while person < people.len() {
        let first = person;
        person += 1;
        if people[first].part != Part::Visitor || !random.chance(BOX_OFFICE_PERCENT) {
            continue;
        }
        let most = random.below(3);
        while person - first <= most && people.get(person).is_some_and(is_visitor) {
            person += 1;
        }
        let group: Vec<usize> = (first..person).collect();
        let at_s = -random.between(2, 60) * DAY_S + random.between(10 * HOUR_S, 18 * HOUR_S);
        let body = pass_sale(random, sales.len(), &group, people);
        sales.push(Sale {
            at_s,
            people: group,
            bodies: vec![body],
        });
    }
    sales
}

fn is_visitor(person: &Person) -> bool {
    person.part == Part::Visitor
}

fn pass_sale(random: &mut Random, number: usize, group: &[usize], people: &[Person]) -> Value {
    let (name, _, price) = PRODUCTS[0];
    let tickets: Vec<Value> = group
        .iter()
        .map(|person| {
            json!({"product": 0, "description": name, "barcode": people[*person].text("barcode")})
        })
        .collect();
    let quantity = i64::try_from(group.len()).unwrap_or(1);
    let full = quantity * price;
    // Three are a group, and groups pay less.
    let discount = if quantity > 2 { full / 10 } else { 0 };
    let code = format!("BO26{:04}", number + 1);
    let item = json!({
        "code": format!("{code}0000"), "product": 0, "quantity": quantity, "description": name,
        "unitAmount": price, "totalAmount": full - discount,
        "discountAmount": if discount > 0 { json!(discount) } else { Value::Null },
        "delegates": tickets,
    });
    body(random, &code, &BOX_OFFICE, &[item], full - discount)
}

/// The shop is open while people are about. Its tills make the mistakes that tills make.
fn keep_shop(random: &mut Random) -> Vec<Sale> {
    let mut times: Vec<i64> = (0..SHOP_SALES)
        .map(|_| random.between(8 * HOUR_S, NOW_S))
        .collect();
    times.sort_unstable();
    let mut sales = Vec::new();
    for (number, at_s) in times.into_iter().enumerate() {
        let code = format!("SH26{:04}", number + 1);
        let mut body = shop_sale(random, &code);
        let mut bodies = Vec::new();
        match number {
            // A coin fell under the counter.
            40 => body["transactions"][0]["amount"] = 850.into(),
            // A line was taken out again, and its counter is missing.
            77 => body["items"][0]["code"] = format!("{code}0001").into(),
            // Sent before the note was written, and once more with it.
            120 => {
                bodies.push(body.clone());
                body["notes"] = "Size changed from M to L".into();
            }
            // Somebody at the till made a product up.
            150 => body["items"][0]["product"] = 99_999.into(),
            _ => {}
        }
        bodies.push(body);
        sales.push(Sale {
            at_s,
            people: Vec::new(),
            bodies,
        });
    }
    sales
}

fn shop_sale(random: &mut Random, code: &str) -> Value {
    let lines = 1 + random.below(10) / 6;
    let first = random.below(PRODUCTS.len() - 1);
    let mut total = 0;
    let items: Vec<Value> = (0..lines)
        .map(|line| {
            let place = 1 + (first + line) % (PRODUCTS.len() - 1);
            let (name, _, price) = PRODUCTS[place];
            let quantity = if random.chance(25) { 2 } else { 1 };
            total += quantity * price;
            json!({
                "code": format!("{code}{line:04}"), "product": place, "quantity": quantity,
                "description": name, "unitAmount": price, "totalAmount": quantity * price,
                "discountAmount": null, "delegates": [],
            })
        })
        .collect();
    body(random, code, &SHOP, &items, total)
}

/// The purchase: most pay by card, others hand over notes and get change.
fn body(random: &mut Random, code: &str, staff: &[&str], items: &[Value], total: i64) -> Value {
    let payment = if random.chance(62) {
        json!({"paymentMethod": "card", "amount": total, "transactionId": format!("C{:08}", random.below(100_000_000))})
    } else {
        let note = *random.pick(&[500, 1_000, 2_000, 5_000]);
        let handed = (total + note - 1) / note * note;
        json!({"paymentMethod": "cash", "amount": handed, "change": handed - total})
    };
    json!({
        "code": code, "totalAmount": total, "recordedBy": random.pick(staff),
        "transactions": [payment], "items": items,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::sales, ops::demo::people};

    #[test]
    fn a_till_that_makes_no_mistake_sends_what_fits() {
        let people = people::invent(&mut Random::new(1), 2_000);
        let sales = invent(&mut Random::new(2), &people);
        assert!(
            (40..200).contains(&sales.passes.len()),
            "{}",
            sales.passes.len()
        );
        assert!(sales.passes.iter().any(|sale| sale.people.len() > 2));
        let told = |sale: &Sale| -> usize {
            let bodies = sale.bodies(1, &[11, 12, 13, 14, 15], 1_790_000_000);
            let read = bodies.iter().map(|body| sales::Sale::read(body));
            read.map(|sale| sale.inconsistencies.len()).sum()
        };
        assert_eq!(sales.passes.iter().map(told).sum::<usize>(), 0);
        let odd = sales.shop.iter().filter(|sale| told(sale) > 0).count();
        assert_eq!(odd, 2);
        assert_eq!(
            sales
                .shop
                .iter()
                .filter(|sale| sale.bodies.len() > 1)
                .count(),
            1
        );
    }

    #[test]
    fn one_seed_always_sells_the_same() {
        let people = people::invent(&mut Random::new(1), 200);
        let [one, same] = [2, 2].map(|seed| invent(&mut Random::new(seed), &people));
        assert_eq!((one.passes, one.shop), (same.passes, same.shop));
    }
}
