//! Pictures in e-mails: QR codes of tickets. The address of one in the HTML says what it shows, so that the picture is made
//! when the mail is sent, and nothing is stored beside the HTML. Most mail clients show pictures that are parts of the
//! mail, and none that stand in an address.

use crate::{
    domain::tickets,
    types::{error::Result, secret},
};
use data_encoding::HEXLOWER;

/// The beginning of an address, before the code in hexadecimal digits.
const SCHEME: &str = "cid:ticket-";
/// The end of an address.
const END: &str = "@gatepost";
/// The longest code, in bytes: a QR code holds it.
const CODE_MAX_BYTES: usize = 1_024;
/// The most pictures of a mail.
const PICTURES_MAX: usize = 4;

/// A picture of a mail.
pub struct Picture {
    /// The address in the HTML.
    pub address: String,
    /// The text of the code.
    code: String,
}

impl Picture {
    /// The id of the mail's part, without brackets.
    pub fn content_id(&self) -> &str {
        self.address.trim_start_matches("cid:")
    }

    /// The picture as PNG.
    pub fn png(&self) -> Result<Vec<u8>> {
        tickets::png(&self.code)
    }

    /// An address that holds the picture.
    pub fn data_url(&self) -> Result<String> {
        tickets::data_url(&self.code)
    }
}

/// Returns the address of the picture of a code.
pub(super) fn address(code: &str) -> String {
    format!("{SCHEME}{}{END}", secret::hex(code.as_bytes()))
}

/// Returns the pictures that HTML shows, each once.
pub fn of(html: &str) -> Vec<Picture> {
    let mut found: Vec<Picture> = Vec::new();
    for part in html.split(SCHEME).skip(1) {
        let code = part
            .split_once(END)
            .and_then(|(hex, _)| HEXLOWER.decode(hex.as_bytes()).ok())
            .and_then(|code| String::from_utf8(code).ok())
            .filter(|code| code.len() <= CODE_MAX_BYTES);
        let Some(code) = code else {
            continue;
        };
        let address = address(&code);
        if found.len() < PICTURES_MAX && found.iter().all(|known| known.address != address) {
            found.push(Picture { address, code });
        }
    }
    found
}

/// Returns HTML with its pictures in their addresses, as a browser can show it by itself.
///
/// # Errors
/// [`crate::types::error::Kind::Invalid`] for a code that no picture holds.
pub fn shown(html: &str) -> Result<String> {
    let mut shown = html.to_owned();
    for picture in of(html) {
        shown = shown.replace(&picture.address, &picture.data_url()?);
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_found_by_their_addresses() {
        let [first, second] = ["ADA-1", "Ω 2"].map(address);
        let html = format!(
            "<img src=\"{first}\"><img src='{second}'><img src=\"{first}\"> cid:ticket-xyz@gatepost cid:ticket-41"
        );
        let found = of(&html);
        let addresses: Vec<&str> = found.iter().map(|found| found.address.as_str()).collect();
        assert_eq!(addresses, [&first, &second]);
        assert_eq!(found[0].content_id(), "ticket-4144412d31@gatepost");
        let shown = shown(&html).expect("HTML");
        assert_eq!(shown.matches("data:image/png;base64,").count(), 3);
        assert!(!shown.contains(&first) && shown.contains("cid:ticket-xyz@gatepost"));
    }
}
