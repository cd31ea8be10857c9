//! The form above the lists of purchases.

use crate::{
    admin::{
        Fields,
        engine::{Input, choices},
        filter::{Asked, Typed},
    },
    domain::sales::find::{Choices, PurchaseFilter},
    types::Zone,
};

const FITS: [(&str, &str); 4] = [
    ("", "any"),
    ("open", "open"),
    ("told", "open or settled"),
    ("none", "none"),
];
const METHODS: [(&str, &str); 4] = [
    ("", "any"),
    ("cash", "Cash"),
    ("card", "Card"),
    ("other", "Something else"),
];

#[derive(Debug, Clone)]
pub struct Filter {
    pub typed: Typed<7>,
    pub wanted: PurchaseFilter,
    /// What could not be read, and was left out.
    pub failure: Option<String>,
}

impl Filter {
    pub fn read(query: &Fields, zone: &Zone) -> Self {
        let names = ["since", "until", "staff", "product", "method", "fits", "q"];
        let mut asked = Asked::of(query, zone);
        let times = asked.times();
        let wanted = PurchaseFilter {
            since: times.since,
            until: times.until,
            staff: asked.text("staff"),
            product: asked.number("product"),
            method: asked.text("method"),
            fits: asked.choice("fits", &FITS),
            q: asked.text("q"),
        };
        Self {
            typed: Typed::read(query, names),
            wanted,
            failure: asked.failure(),
        }
    }

    pub fn inputs(&self, offered: &Choices) -> Vec<Input> {
        let value = |name| self.typed.get(name);
        let any = |label: &str| [(String::new(), label.to_owned())].into_iter();
        let staff = offered.staff.iter().cloned();
        let products = offered.products.iter();
        let products = products.map(|(id, name)| (id.to_string(), name.clone()));
        let moment = |name, label| Input::line("datetime-local", name, label).value(value(name));
        vec![
            moment("since", "From"),
            moment("until", "Until"),
            Input::select(
                "staff",
                "Sold by",
                choices(any("anybody").chain(staff), value("staff")),
            ),
            Input::select(
                "product",
                "Product",
                choices(any("any").chain(products), value("product")),
            ),
            Input::select("method", "Paid by", choices(METHODS, value("method"))),
            Input::select("fits", "Inconsistencies", choices(FITS, value("fits"))),
            Input::text("q", "Code, note or ticket")
                .value(value("q"))
                .attribute("spellcheck", "false"),
        ]
    }
}
