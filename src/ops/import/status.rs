//! Columns that say of a ticket whether it is still good, in the languages in which headers are known.

use super::{
    choice::choice,
    headers::{folded, has},
    values::flag,
};
use crate::types::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, sync::LazyLock};

choice! {
    /// The treatment of rows whose tickets are not good any more.
    #[derive(Default)]
    Rule {
        /// Leaves them out.
        #[default]
        Drop = "drop", "leave these rows out";
        /// Imports them, with their codes blocked.
        Block = "block", "import them, with their codes blocked";
        /// Imports them like all others.
        Keep = "keep", "import them as valid";
    }
}

/// `COLUMN=drop|block|keep`, as an operator gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRule(pub String, pub Rule);

impl StatusRule {
    /// Reads `Attendee status=block`.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`], with what is right.
    pub fn parse(text: &str) -> Result<Self> {
        let parts = text.rsplit_once('=');
        parts
            .and_then(|(column, rule)| {
                Some(Self(
                    column.trim().to_owned(),
                    Rule::parse(rule.trim()).ok()?,
                ))
            })
            .ok_or_else(|| Error::invalid("must be COLUMN=drop, COLUMN=block or COLUMN=keep"))
    }

    /// Returns whether it is about the column of this header.
    #[must_use]
    pub fn means(&self, header: &str) -> bool {
        self.0 == header || folded(&self.0) == folded(header)
    }
}

/// The manner in which a column says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// By a word, such as `refunded`.
    Word,
    /// By a yes to what its header asks: `Cancelled`.
    Yes,
    /// By a no: `Paid`.
    No,
}

const HEADERS: &str = "status attendeestatus ticketstatus orderstatus registrationstatus registrationstate \
    bookingstatus paymentstatus voidstatus state ordertype rsvp rsvpstatus teilnahmestatus teilnehmerstatus \
    bestellstatus buchungsstatus zahlungsstatus anmeldestatus statut statutdelacommande statutdubillet \
    statutdupaiement estado estadodelpedido estadodelaentrada estadodelpago stato statoordine statobiglietto \
    statopagamento bestelstatus ticketstatus betaalstatus betalingsstatus";
const YES_HEADERS: &str = "refunded cancelled canceled void voided deleted erstattet storniert ungultig geloscht \
    rembourse annule supprime reembolsado cancelado anulado eliminado rimborsato annullato cancellato \
    terugbetaald geannuleerd verwijderd";
const NO_HEADERS: &str = "paid ispaid bezahlt paye pagado pagato betaald attending nimmtteil";

/// Kinds of tickets that are not good, and the words for them.
const WORDS: [(&str, &str); 6] = [
    (
        "refunded",
        "refunded erstattet ruckerstattet zuruckerstattet rembourse remboursee reembolsado reembolsada \
         devuelto rimborsato rimborsata terugbetaald",
    ),
    (
        "cancelled",
        "cancelled canceled withdrawn rejected declined expired storniert abgesagt annulliert gekundigt \
         abgelehnt abgelaufen zuruckgezogen annule annulee refuse refusee expire expiree cancelado cancelada \
         anulado anulada rechazado rechazada caducado caducada annullato annullata rifiutato rifiutata \
         scaduto scaduta geannuleerd afgezegd geweigerd verlopen cancel",
    ),
    (
        "void",
        "void voided invalid ungultig invalide nonvalide nonvalable nulo nula invalido invalida nullo nulla \
         nonvalido ongeldig",
    ),
    (
        "not attending",
        "notattending notgoing notcoming nolongerattending nimmtnichtteil abgemeldet neparticipepas \
         neparticipeplus noasiste noasistira nonpartecipa neemtnietdeel afgemeld komtniet",
    ),
    (
        "deleted",
        "deleted removed trashed geloscht entfernt supprime supprimee eliminado eliminada borrado borrada \
         eliminato eliminata cancellato cancellata verwijderd",
    ),
    (
        "unpaid",
        "unpaid notpaid pending pendingpayment awaitingpayment paymentpending unbezahlt nichtbezahlt offen \
         ausstehend zahlungausstehend impaye impayee nonpaye nonpayee enattente enattentedepaiement impagado \
         impagada nopagado nopagada pendiente pendientedepago nonpagato nonpagata inattesa inattesadipagamento \
         onbetaald nietbetaald openstaand inafwachting inafwachtingvanbetaling",
    ),
];

/// The manner in which the column of a header says it; none of a column that does not.
#[must_use]
pub fn manner(header: &str) -> Option<Manner> {
    let header = folded(header);
    let known = [
        (HEADERS, Manner::Word),
        (YES_HEADERS, Manner::Yes),
        (NO_HEADERS, Manner::No),
    ];
    let found = known.into_iter().find(|(words, _)| has(words, &header));
    found.map(|(_, manner)| manner)
}

/// The kind of ticket that a cell tells of, where it is not good any more.
#[must_use]
pub fn not_good(manner: Manner, header: &str, cell: &str) -> Option<&'static str> {
    static KINDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let words = WORDS.iter().rev();
        words
            .flat_map(|(kind, words)| words.split_whitespace().map(move |word| (word, *kind)))
            .collect()
    });
    let by_word = |text: &str| KINDS.get(folded(text).as_str()).copied();
    match (manner, flag(cell)) {
        (Manner::Word, _) | (_, None) => by_word(cell),
        (Manner::Yes, Some(true)) => by_word(header),
        (Manner::No, Some(false)) => {
            let is_of_coming = ["attending", "nimmtteil"].contains(&folded(header).as_str());
            Some(if is_of_coming {
                "not attending"
            } else {
                "unpaid"
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_that_are_not_good_are_known_in_six_languages() {
        for (header, cell, kind) in [
            ("Attendee Status", "Attending", None),
            ("Attendee Status", "Not Attending", Some("not attending")),
            ("Status", "REFUNDED", Some("refunded")),
            ("Status", "AWAITING_PAYMENT", Some("unpaid")),
            ("Void Status", "void", Some("void")),
            ("Bestellstatus", "storniert", Some("cancelled")),
            ("Zahlungsstatus", "nicht bezahlt", Some("unpaid")),
            ("Statut", "Remboursé", Some("refunded")),
            ("Statut", "Annulée", Some("cancelled")),
            ("Estado", "Pendiente de pago", Some("unpaid")),
            ("Estado", "Anulado", Some("cancelled")),
            ("Stato", "Rimborsato", Some("refunded")),
            ("Stato", "Cancellato", Some("deleted")),
            ("Bestelstatus", "Geannuleerd", Some("cancelled")),
            ("Status", "Verwijderd", Some("deleted")),
            ("Status", "paid", None),
            ("Cancelled", "yes", Some("cancelled")),
            ("Cancelled", "no", None),
            ("Gelöscht", "Ja", Some("deleted")),
            ("Paid", "No", Some("unpaid")),
            ("Betaald", "nee", Some("unpaid")),
            ("Payé", "oui", None),
            ("Paid", "2027-01-02", None),
        ] {
            let manner = manner(header).unwrap();
            assert_eq!(not_good(manner, header, cell), kind, "{header}: {cell}");
        }
        assert_eq!(manner("Company"), None);
    }

    #[test]
    fn a_rule_names_its_column() {
        let rule = StatusRule::parse("Order = status=keep").unwrap();
        assert_eq!(rule, StatusRule("Order = status".into(), Rule::Keep));
        assert!(rule.means("ORDER = STATUS"));
        for bad in ["Status", "Status=maybe", "=keep x"] {
            assert!(StatusRule::parse(bad).is_err(), "{bad}");
        }
    }
}
