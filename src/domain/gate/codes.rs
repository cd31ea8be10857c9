//! Ticket codes for people who come without one.

use crate::types::{
    barcode::{Barcode, Base},
    error::{Error, Result},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// In place of a purchase code.
const BASE: &str = "W";
/// Codes that a gate gets at once.
pub const CODES_MAX: u16 = 200;

/// The number of ticket codes to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GateCodesInput", example = json!({"count": 50}))]
pub struct CodesInput {
    /// The number of codes.
    #[schemars(range(min = 1, max = CODES_MAX))]
    count: i64,
}

impl CodesInput {
    /// Makes the codes; each has 50 random bits.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for none and for more than [`CODES_MAX`].
    pub fn make(&self) -> Result<Vec<String>> {
        match u16::try_from(self.count) {
            Ok(count @ 1..=CODES_MAX) => (1..=count).map(make).collect(),
            _ => Err(Error::field(
                "count",
                format!("must be a whole number from 1 to {CODES_MAX}"),
            )),
        }
    }
}

/// Makes one code.
pub fn make(sequence: u16) -> Result<String> {
    let barcode = Barcode::make(&Base::parse(BASE)?, sequence)?;
    Ok(barcode.to_string())
}
