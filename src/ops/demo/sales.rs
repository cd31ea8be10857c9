//! Sales: passes at the box office in the weeks before, shirts and mugs at the shop. Times are
//! seconds after the begin of the event's first day, amounts are in cents.

use super::{
    Random,
    people::{Part, Person},
    programme::Programme,
    story::{DAY_S, HOUR_S, NOON_S},
    texts::TEXTS,
};
use serde_json::{Value, json};

/// Of a hundred visitors, how many bought a pass at the box office, for themselves and others.
const BOX_OFFICE_PERCENT: usize = 6;
/// Sales at the shop so far.
const SHOP_SALES: usize = 190;

#[derive(Debug, PartialEq)]
pub struct Sale {
    pub at_s: i64,
    /// The people whose passes it has, by their places, which follow each other.
    pub people: Vec<usize>,
    /// Bodies that the till sends, one after the other. A product is its number; the context is missing.
    bodies: Vec<Value>,
}

impl Sale {
    /// Returns the bodies that the till sends, with the ids of the event and of products.
    pub fn bodies(&self, programme: &Programme, devices: &[i64]) -> Vec<Vec<u8>> {
        let set_product = |part: &mut Value| {
            let number = part["product"]
                .as_u64()
                .and_then(|at| usize::try_from(at).ok());
            if let Some(number) = number.filter(|number| *number < TEXTS.products.len()) {
                part["product"] = devices[programme.product(number)].into();
            }
        };
        let complete = |mut body: Value| {
            body["context"] = devices[super::programme::EVENT].into();
            body["createdAt"] = programme.unix_s(self.at_s).into();
            for item in body["items"].as_array_mut().into_iter().flatten() {
                set_product(item);
                let delegates = item["delegates"].as_array_mut();
                delegates.into_iter().flatten().for_each(set_product);
            }
            body.to_string().into_bytes()
        };
        self.bodies.iter().cloned().map(complete).collect()
    }
}

/// Passes, in the order of their people: some visitors came through the box office, alone or with
/// those behind them in the queue.
pub fn passes(random: &mut Random, people: &[Person]) -> Vec<Sale> {
    let is_visitor = |at: usize| people.get(at).is_some_and(|one| one.part == Part::Visitor);
    let mut sales = Vec::new();
    let mut person = 0;
    while person < people.len() {
        let first = person;
        person += 1;
        if !is_visitor(first) || !random.chance(BOX_OFFICE_PERCENT) {
            continue;
        }
        let most = random.below(3);
        while person - first <= most && is_visitor(person) {
            person += 1;
        }
        let at_s = -random.between(2, 60) * DAY_S + random.between(10 * HOUR_S, 18 * HOUR_S);
        let group: Vec<usize> = (first..person).collect();
        let bodies = vec![pass_sale(random, sales.len() + 1, &people[first..person])];
        sales.push(Sale {
            at_s,
            people: group,
            bodies,
        });
    }
    sales
}

fn pass_sale(random: &mut Random, number: usize, group: &[Person]) -> Value {
    let (name, price) = (&TEXTS.products[0].name, TEXTS.products[0].cents);
    let ticket = |person: &Person| json!({"product": 0, "description": name, "barcode": person.text("barcode")});
    let quantity = i64::try_from(group.len()).unwrap_or(1);
    let full = quantity * price;
    // Three are a group, and groups pay less.
    let discount = (quantity > 2).then_some(full / 10);
    let total = full - discount.unwrap_or(0);
    let code = format!("BO26{number:04}");
    let item = json!({
        "code": format!("{code}0000"), "product": 0, "quantity": quantity, "description": name,
        "unitAmount": price, "totalAmount": total, "discountAmount": discount,
        "delegates": group.iter().map(ticket).collect::<Vec<_>>(),
    });
    body(random, &code, &TEXTS.box_office_staff, &[item], total)
}

/// Sales at the shop, in the order of time. Its tills make the mistakes that tills make.
pub fn shop(random: &mut Random) -> Vec<Sale> {
    let mut times: Vec<i64> = (0..SHOP_SALES)
        .map(|_| random.between(8 * HOUR_S, NOON_S))
        .collect();
    times.sort_unstable();
    let sale = |(number, at_s): (usize, i64)| {
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
            // Somebody at the till invented a product.
            150 => body["items"][0]["product"] = 99_999.into(),
            _ => {}
        }
        bodies.push(body);
        Sale {
            at_s,
            people: Vec::new(),
            bodies,
        }
    };
    times.into_iter().enumerate().map(sale).collect()
}

fn shop_sale(random: &mut Random, code: &str) -> Value {
    let lines = 1 + random.below(10) / 6;
    let goods = TEXTS.products.len() - 1;
    let first = random.below(goods);
    let mut total = 0;
    let mut items = Vec::new();
    for line in 0..lines {
        let product = 1 + (first + line) % goods;
        let (name, price) = (&TEXTS.products[product].name, TEXTS.products[product].cents);
        let quantity = if random.chance(25) { 2 } else { 1 };
        total += quantity * price;
        items.push(json!({
            "code": format!("{code}{line:04}"), "product": product, "quantity": quantity,
            "description": name, "unitAmount": price, "totalAmount": quantity * price,
            "discountAmount": null, "delegates": [],
        }));
    }
    body(random, code, &TEXTS.shop_staff, &items, total)
}

/// The purchase: most pay by card, others hand over notes and get change.
fn body(random: &mut Random, code: &str, staff: &[String], items: &[Value], total: i64) -> Value {
    let payment = if random.chance(62) {
        let id = format!("C{:08}", random.below(100_000_000));
        json!({"paymentMethod": "card", "amount": total, "transactionId": id})
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
    use crate::{domain::sales, ops::demo::people, types::Timestamp};

    #[test]
    fn a_till_that_makes_no_mistake_sends_what_fits() {
        let people = people::invent(&mut Random::new(1), 2_000);
        let programme = Programme::new(&mut Random::new(1), Timestamp(0), 2026);
        let ids: Vec<i64> = (1..100).collect();
        let random = &mut Random::new(2);
        let (passes, shop) = (passes(random, &people), shop(random));
        assert!((40..200).contains(&passes.len()), "{}", passes.len());
        assert!(passes.iter().any(|sale| sale.people.len() > 2));
        let told = |sale: &Sale| -> usize {
            let bodies = sale.bodies(&programme, &ids);
            let read = bodies.iter().map(|body| sales::Sale::read(body));
            read.map(|sale| sale.inconsistencies.len()).sum()
        };
        assert_eq!(passes.iter().map(told).sum::<usize>(), 0);
        assert_eq!(shop.iter().filter(|sale| told(sale) > 0).count(), 2);
        assert_eq!(shop.iter().filter(|sale| sale.bodies.len() > 1).count(), 1);
    }

    #[test]
    fn one_seed_always_sells_the_same() {
        let people = people::invent(&mut Random::new(1), 200);
        let sold = || {
            let random = &mut Random::new(2);
            (passes(random, &people), shop(random))
        };
        assert_eq!(sold(), sold());
    }
}
