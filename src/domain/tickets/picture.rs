//! The QR code of a ticket as a picture that mail clients and browsers show alike.

use crate::types::error::{Error, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use fast_qr::{ECL, QRBuilder};

/// Dots along a side of a module: sharp at the size of a hand.
const DOTS: usize = 8;
/// Modules of the quiet zone that readers need.
const QUIET: usize = 4;

/// Returns a text as a QR code, black on white, as PNG.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a text that no QR code holds.
pub fn png(text: &str) -> Result<Vec<u8>> {
    let code = QRBuilder::new(text).ecl(ECL::M).build();
    let code = code.map_err(|_| Error::invalid("this code is too long for a QR code"))?;
    let modules = code.size + 2 * QUIET;
    let side = modules * DOTS;
    let dark = |row: usize, column: usize| {
        let [row, column] =
            [row, column].map(|at| at.checked_sub(QUIET).filter(|at| *at < code.size));
        row.zip(column)
            .is_some_and(|(row, column)| code[row][column].value())
    };
    let line = side.div_ceil(8);
    let mut dots = vec![0xff_u8; line * side];
    for y in 0..side {
        for x in (0..side).filter(|x| dark(y / DOTS, x / DOTS)) {
            dots[y * line + x / 8] &= !(0x80 >> (x % 8));
        }
    }
    let side = u32::try_from(side).map_err(Error::defect)?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().map_err(Error::defect)?;
    writer.write_image_data(&dots).map_err(Error::defect)?;
    writer.finish().map_err(Error::defect)?;
    Ok(bytes)
}

/// Returns that picture as an address that holds it.
///
/// # Errors
/// As [`png()`].
pub fn data_url(text: &str) -> Result<String> {
    let png = BASE64_STANDARD.encode(png(text)?);
    Ok(format!("data:image/png;base64,{png}"))
}
