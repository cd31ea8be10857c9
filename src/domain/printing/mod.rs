//! Printing badges (contract §15): printers in the venue, and jobs that wait for them in the outbox. What is printed holds
//! up nobody at the door: a check-in is recorded first, and read from the change feed.
//!
//! - `printers`: how printers are set up, and which one is for whom
//! - `jobs`: badges to print, and what became of them
//! - `check_ins`: check-ins that print a badge by themselves
//! - `deliver`: attempts; `tcp`: label printers by TCP; `ipp`: those that speak IPP
//! - `api`: `/badge/print`, `/badge/job`

pub mod api;
pub mod check_ins;
mod deliver;
mod ipp;
pub mod jobs;
pub mod printers;
mod tcp;

pub use check_ins::DESTINATION as CHECK_INS;
pub use deliver::{Printing, state, test};
pub use jobs::{Job, State};
pub use printers::{ByItself, Language, NewPrinter, Printer};

use crate::core::dns_sd::Found;

/// The services that printers announce.
pub const SERVICES: [&str; 2] = ["_pdl-datastream._tcp", "_ipp._tcp"];

/// Begins the form of a printer that was found.
pub fn of_found(found: &Found) -> NewPrinter {
    let is_ipp = found.service == SERVICES[1];
    let name = found.name.to_lowercase();
    let is_brother = name.contains("brother") || name.contains("ql-");
    let address = &found.address;
    NewPrinter {
        name: found.name.clone(),
        language: match (is_ipp, is_brother) {
            (true, _) => Language::Ipp,
            (false, true) => Language::Brother,
            (false, false) => Language::Zpl,
        },
        address: if is_ipp {
            format!(
                "ipp://{address}/{}",
                found.path.as_deref().unwrap_or("ipp/print")
            )
        } else {
            address.clone()
        },
        ..NewPrinter::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printer_that_was_found_begins_its_form() {
        let found = |name: &str, service: &'static str, path: Option<&str>| {
            let printer = of_found(&Found {
                name: name.to_owned(),
                address: "192.0.2.9:631".to_owned(),
                service,
                path: path.map(ToOwned::to_owned),
            });
            (printer.language, printer.address)
        };
        let ipp = |address: &str| (Language::Ipp, address.to_owned());
        let plain = "192.0.2.9:631".to_owned();
        assert_eq!(
            found("Office", SERVICES[1], Some("ipp/a4")),
            ipp("ipp://192.0.2.9:631/ipp/a4")
        );
        assert_eq!(
            found("Office", SERVICES[1], None),
            ipp("ipp://192.0.2.9:631/ipp/print")
        );
        assert_eq!(
            found("Brother QL-820NWB", SERVICES[0], None),
            (Language::Brother, plain.clone())
        );
        assert_eq!(found("ZD421", SERVICES[0], None), (Language::Zpl, plain));
    }
}
