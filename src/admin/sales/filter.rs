//! The form above the lists of purchases.

use crate::{
    admin::{filter::Asked, prelude::*},
    domain::sales::find::{Choices, PurchaseFilter},
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

/// The purchases that a form asks for, and what of it could not be read and was left out.
pub fn wanted(request: &RequestContext) -> (PurchaseFilter, Option<String>) {
    let zone = request.console.settings().zone.clone();
    let mut asked = Asked::of(&request.query, &zone);
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
    (wanted, asked.failure())
}

/// The form above a list of purchases.
pub async fn list(request: &RequestContext) -> Result<List> {
    let offered = request.read(Choices::read).await?;
    let any = |label: &str| [Choice::new("", label, false)].into_iter();
    let named = |(value, name): (String, String)| Choice::named(value, name, false);
    let staff = offered.staff.into_iter().map(named);
    let products = offered.products.into_iter();
    let products = products.map(|(id, name)| named((id.to_string(), name)));
    let inputs = vec![
        Input::line("datetime-local", "since", "From"),
        Input::line("datetime-local", "until", "Until"),
        Input::select("staff", "Sold by", any("anybody").chain(staff)),
        Input::select("product", "Product", any("any").chain(products)),
        Input::select("method", "Paid by", METHODS),
        Input::select("fits", "Inconsistencies", FITS),
        Input::text("q", "Code, note or ticket").attribute("spellcheck", "false"),
    ];
    Ok(List::new(request, inputs, "from"))
}
