//! Lists of ticket shops, recognised by their headers as a whole and mapped in one step. A shop is a row of a table.

use super::{Target, What, headers::folded};

/// A list as a shop exports it.
#[derive(Debug)]
pub struct Shop {
    pub name: &'static str,
    /// Headers that are all there, as [`folded`].
    headers: &'static [&'static str],
    /// Headers, as [`folded`], and the property that each means, as a mapping spells it.
    columns: &'static [(&'static str, &'static str)],
}

#[rustfmt::skip]
const SHOPS: &[Shop] = &[
    Shop {
        name: "pretix",
        headers: &["ordercode", "product", "secret", "attendeename"],
        columns: &[
            ("secret", "barcode"), ("product", "delegateType"), ("attendeenamegivenname", "firstName"),
            ("attendeenamefamilyname", "lastName"), ("comment", "note"), ("checkinattention", "attention"),
            ("requiresspecialattention", "attention"), ("checkintext", "note"), ("phonenumber", "phone"),
        ],
    },
    Shop {
        name: "Eventbrite",
        headers: &["order", "attendee", "attendeestatus", "tickettype"],
        columns: &[
            ("barcodenumber", "barcode"), ("barcode", "barcode"), ("tickettype", "delegateType"),
            ("firstname", "firstName"), ("surname", "lastName"), ("lastname", "lastName"), ("notes", "note"),
        ],
    },
    Shop {
        name: "ti.to",
        headers: &["ticket", "ticketreference", "voidstatus"],
        columns: &[
            ("ticketreference", "barcode"), ("ticket", "delegateType"), ("ticketfirstname", "firstName"),
            ("ticketlastname", "lastName"), ("ticketemail", "email"), ("ticketcompanyname", "company"),
            ("ticketphonenumber", "phone"), ("ticketjobtitle", "jobTitle"),
        ],
    },
    Shop {
        name: "Hi.Events",
        headers: &["publicid", "ticketname", "ischeckedin"],
        columns: &[
            ("publicid", "barcode"), ("ticketname", "delegateType"), ("firstname", "firstName"),
            ("lastname", "lastName"), ("notes", "note"),
        ],
    },
    Shop {
        name: "Indico",
        headers: &["id", "registrationdate", "registrationstate"],
        columns: &[
            ("id", "externalId"), ("firstname", "firstName"), ("lastname", "lastName"),
            ("emailaddress", "email"), ("affiliation", "company"), ("position", "jobTitle"),
        ],
    },
    Shop {
        name: "Odoo",
        headers: &["eventticket", "attendeddate", "status"],
        columns: &[
            ("barcode", "barcode"), ("eventticket", "delegateType"), ("attendeename", "name"), ("name", "name"),
            ("companyname", "company"),
        ],
    },
    Shop {
        name: "Eventyay",
        headers: &["order", "status", "ticketname", "ticketprice"],
        columns: &[
            ("ticketname", "delegateType"), ("tickettype", "data.Data.Ticket Type"), ("firstname", "firstName"),
            ("lastname", "lastName"), ("barcode", "barcode"), ("ticketid", "barcode"),
        ],
    },
];

impl Shop {
    /// The shop whose list has these headers.
    #[must_use]
    pub fn of(what: What, headers: &[String]) -> Option<&'static Self> {
        if what != What::Delegates {
            return None;
        }
        let folded: Vec<String> = headers.iter().map(|header| folded(header)).collect();
        let has = |known: &&str| folded.iter().any(|header| header == known);
        SHOPS.iter().find(|shop| shop.headers.iter().all(has))
    }

    /// The content of the column of a header.
    #[must_use]
    pub fn target(&self, header: &str) -> Option<Target> {
        let header = folded(header);
        let mut columns = self.columns.iter();
        let (_, target) = columns.find(|(known, _)| *known == header)?;
        Target::parse(What::Delegates, target).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shop_maps_to_properties_that_there_are() {
        for shop in SHOPS {
            let headers = shop.headers.iter().map(ToString::to_string);
            let found = Shop::of(What::Delegates, &headers.collect::<Vec<_>>());
            assert_eq!(found.map(|shop| shop.name), Some(shop.name));
            for (header, _) in shop.columns {
                assert_eq!(folded(header), *header);
                assert!(shop.target(header).is_some(), "{} {header}", shop.name);
            }
        }
    }
}
