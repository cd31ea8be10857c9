//! Which purchases are asked for.

use crate::{
    admin::{
        Fields,
        filter::{Asked, Times, query},
    },
    domain::sales::find::PurchaseFilter,
    types::Zone,
};

/// What is chosen of those with or without inconsistencies.
const FITS: [(&str, &str); 4] = [
    ("", "all"),
    ("open", "with open inconsistencies"),
    ("told", "with inconsistencies, settled too"),
    ("none", "without any"),
];
/// How it was paid.
const METHODS: [(&str, &str); 4] = [
    ("", "any"),
    ("cash", "Cash"),
    ("card", "Card"),
    ("other", "Something else"),
];

/// What is asked for, as the page's form says it.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Purchases of these times.
    pub times: Times,
    /// Who sold.
    pub staff: String,
    /// A product's device.
    pub product: Option<i64>,
    /// One of [`METHODS`].
    pub method: String,
    /// One of [`FITS`].
    pub fits: &'static str,
    /// A part of the code or note, or a ticket's barcode.
    pub q: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "templates pass references"
)]
impl Filter {
    /// Reads the query string; what cannot be read of it is told, and left out.
    pub fn read(query: &Fields, zone: &Zone) -> (Self, Option<String>) {
        let mut asked = Asked::of(query, zone);
        let filter = Self {
            times: asked.times(),
            staff: asked.text("staff"),
            product: asked.number("product"),
            method: asked.text("method"),
            fits: asked.choice("fits", &FITS),
            q: asked.text("q"),
        };
        (filter, asked.failure())
    }

    /// What can be chosen of those that fit or do not: value, name, and whether it is chosen.
    pub fn fits_offered(&self) -> Vec<(&'static str, &'static str, bool)> {
        offered(&FITS, self.fits)
    }

    /// The methods that can be chosen, likewise.
    pub fn methods_offered(&self) -> Vec<(&'static str, &'static str, bool)> {
        offered(&METHODS, &self.method)
    }

    /// Whether nothing is left out.
    pub fn is_any(&self) -> bool {
        self.query().is_empty()
    }

    /// Whether it is about this product.
    pub fn is_product(&self, id: &i64) -> bool {
        self.product == Some(*id)
    }

    /// The filter as a query string.
    pub fn query(&self) -> String {
        let product = self.product.map(|id| id.to_string()).unwrap_or_default();
        query(&[
            ("since", &self.times.typed[0]),
            ("until", &self.times.typed[1]),
            ("staff", &self.staff),
            ("product", &product),
            ("method", &self.method),
            ("fits", self.fits),
            ("q", &self.q),
        ])
    }

    /// The filter as a query string with one parameter more.
    pub fn with(&self, name: &str, value: &str) -> String {
        let (asked, more) = (self.query(), query(&[(name, value)]));
        let between = if asked.is_empty() { "" } else { "&" };
        format!("{asked}{between}{more}")
    }

    /// What is wanted.
    pub fn purchases(&self) -> PurchaseFilter {
        PurchaseFilter {
            since: self.times.since,
            until: self.times.until,
            staff: self.staff.clone(),
            product: self.product,
            method: self.method.clone(),
            fits: self.fits,
            q: self.q.clone(),
        }
    }
}

fn offered(
    offers: &[(&'static str, &'static str)],
    chosen: &str,
) -> Vec<(&'static str, &'static str, bool)> {
    let offers = offers.iter();
    offers
        .map(|(value, name)| (*value, *name, *value == chosen))
        .collect()
}
