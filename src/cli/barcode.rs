//! `gatepost barcode`: makes ticket codes and checks them (contract §8). It touches no file.

use super::{answer, print, print_json};
use crate::types::{
    barcode::{BASE_MAX, Barcode, Base, SEQUENCE_MAX},
    error::{Error, Result},
};
use clap::Subcommand;
use serde_json::{Value, json};

/// Make ticket barcodes, or check one
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  gatepost barcode make TLH26 --count 3")]
pub enum BarcodeCommand {
    /// Make the barcodes of a purchase, one a line
    ///
    /// Each is the purchase code, the ticket's number, 50 random bits and two check symbols. Made
    /// again they are others: keep what was printed.
    #[command(after_help = "\
Example:
  gatepost barcode make TLH26 --count 3
  gatepost barcode make TLH26 --sequence 4 --json")]
    Make {
        #[arg(help = format!("The purchase code: at most {BASE_MAX} digits and letters (I and L count as 1, O as 0, - is dropped, U is none)"))]
        base: String,
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(..=i64::from(SEQUENCE_MAX)),
            help = "The number of the first ticket")]
        sequence: u16,
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..),
            help = "How many tickets, with numbers that follow each other")]
        count: u16,
    },
    /// Tell whether a barcode's check symbols fit (exit code 1 when not)
    ///
    /// Barcodes that were made elsewhere have no such symbols; the server takes them all the same.
    #[command(after_help = "Example:\n  gatepost barcode check T1H26011012345678ZVP")]
    Check {
        /// The barcode, as scanned or typed
        code: String,
    },
}

/// Runs a command; whether what it checked is in order.
pub fn run(command: BarcodeCommand, json: bool) -> Result<bool> {
    match command {
        BarcodeCommand::Make {
            base,
            sequence,
            count,
        } => make(&base, sequence, count, json).map(|()| true),
        BarcodeCommand::Check { code } => check(&code, json),
    }
}

fn make(base: &str, first: u16, count: u16, json: bool) -> Result<()> {
    let base = Base::parse(base)?;
    let last = first
        .checked_add(count - 1)
        .filter(|last| *last <= SEQUENCE_MAX)
        .ok_or_else(|| {
            Error::invalid(format!(
                "{count} tickets from {first} on: a purchase has tickets up to {SEQUENCE_MAX}"
            ))
        })?;
    let made: Vec<Barcode> = (first..=last)
        .map(|sequence| Barcode::make(&base, sequence))
        .collect::<Result<_>>()?;
    if json {
        let shown = made.iter().map(described).collect();
        return print_json(&Value::Array(shown));
    }
    made.iter().try_for_each(|made| print(&made.to_string()))
}

fn check(code: &str, json: bool) -> Result<bool> {
    let (value, text) = match Barcode::parse(code) {
        Ok(barcode) => {
            let mut value = described(&barcode);
            value["valid"] = json!(true);
            let (sequence, base) = (barcode.sequence(), barcode.base());
            let text = format!("{barcode} fits: ticket {sequence} of purchase {base}");
            (value, text)
        }
        Err(cause) => (
            json!({"valid": false, "reason": cause.to_string()}),
            cause.to_string(),
        ),
    };
    answer(json, &value, &text)?;
    Ok(value["valid"] == true)
}

fn described(barcode: &Barcode) -> Value {
    json!({
        "barcode": barcode.to_string(),
        "base": barcode.base().to_string(),
        "sequence": barcode.sequence(),
    })
}
