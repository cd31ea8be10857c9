//! Printers that speak IPP (RFC 8011): IPP Everywhere, `AirPrint`, and queues of CUPS.

use super::deliver::Sent;
use crate::core::outgoing::{Client, Failure, Request};
use ipp::{
    operation::IppOperation,
    parser::{IppParseError, IppParser},
    prelude::{DelimiterTag, IppOperationBuilder, IppPayload, IppRequestResponse, Uri},
    reader::IppReader,
};
use std::io::{Cursor, Read};

const CONTENT_TYPE: &str = "application/ipp";
pub(super) const PDF: &str = "application/pdf";
pub(super) const RASTER: &str = "image/pwg-raster";
/// The attributes of a printer that matter here.
const ASKED: [&str; 4] = [
    "printer-state",
    "printer-state-reasons",
    "printer-is-accepting-jobs",
    "document-format-supported",
];
/// `stopped`, a value of `printer-state`.
const STOPPED: &str = "5";

/// The address by which HTTP reaches a printer: `ipp://` is HTTP at port 631.
pub(super) fn url(address: &str) -> Option<String> {
    if let Some(rest) = address.strip_prefix("ipp://") {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let has_port = host
            .rsplit_once(']')
            .map_or(host, |(_, rest)| rest)
            .contains(':');
        let port = if has_port { "" } else { ":631" };
        return (!host.is_empty()).then(|| format!("http://{host}{port}/{path}"));
    }
    let is_web = address.starts_with("http://") || address.starts_with("https://");
    is_web.then(|| address.to_owned())
}

/// A printer, as it describes itself.
pub(super) struct Description {
    /// The reasons why it does not print, in words; none: it prints.
    pub troubles: Vec<String>,
    /// The format to send.
    pub format: &'static str,
}

/// Asks a printer what it takes, and how it is.
///
/// # Errors
/// The reason in words.
pub(super) async fn describe(client: &Client, address: &str) -> Result<Description, String> {
    let request = bytes(address, |uri| {
        IppOperationBuilder::get_printer_attributes(uri)
            .attributes(ASKED)
            .build()
    })?;
    let answered = call(client, address, request).await;
    let answer = answered.map_err(|failure| failure.why().to_owned())?;
    let values = |name: &str| {
        let group = answer
            .attributes()
            .first_of(DelimiterTag::PrinterAttributes)?;
        Some(group.get(name)?.value().to_string())
    };
    let reasons = values("printer-state-reasons").unwrap_or_default();
    let mut troubles: Vec<String> = reasons
        .split([',', '[', ']', ' '])
        .filter(|reason| !reason.ends_with("-report") && !reason.ends_with("-warning"))
        .filter_map(in_words)
        .collect();
    if troubles.is_empty() && values("printer-state").as_deref() == Some(STOPPED) {
        troubles.push("it is stopped".to_owned());
    }
    if values("printer-is-accepting-jobs").as_deref() == Some("false") {
        troubles.push("it accepts no jobs".to_owned());
    }
    let formats = values("document-format-supported").unwrap_or_default();
    let format = if formats.is_empty() || formats.contains(PDF) {
        PDF
    } else if formats.contains(RASTER) {
        RASTER
    } else {
        return Err(format!(
            "it takes neither PDF nor PWG raster, but {formats}"
        ));
    };
    Ok(Description { troubles, format })
}

/// The words for a reason of `printer-state-reasons` (RFC 8011, 5.4.12) that keeps from printing.
fn in_words(reason: &str) -> Option<String> {
    let reason = reason.strip_suffix("-error").unwrap_or(reason);
    let told = match reason {
        ""
        | "none"
        | "media-low"
        | "toner-low"
        | "marker-supply-low"
        | "connecting-to-device"
        | "spool-area-full"
        | "moving-to-paused"
        | "interlock-closed"
        | "hold-new-jobs"
        | "identify-printer-requested" => return None,
        "media-empty" | "media-needed" => "it is out of paper",
        "media-jam" => "paper is stuck in it",
        "cover-open" | "door-open" | "interlock-open" => "it is open",
        "marker-supply-empty" | "toner-empty" => "it is out of ink",
        "paused" => "somebody has paused it",
        "offline" | "shutdown" => "it is off",
        "timed-out" => "it does not answer",
        other => return Some(format!("it says {other}")),
    };
    Some(told.to_owned())
}

/// Sends a document as a job.
pub(super) async fn print(client: &Client, address: &str, format: &str, document: Vec<u8>) -> Sent {
    let request = bytes(address, |uri| {
        IppOperationBuilder::print_job(uri, IppPayload::new(Cursor::new(document)))
            .user_name("gatepost")
            .job_title("Badge")
            .document_format(format)
            .build()
    });
    let request = match request {
        Ok(request) => request,
        Err(why) => return Sent::Never(why),
    };
    match call(client, address, request).await {
        Ok(_) => Sent::Yes,
        Err(Failure::NotSent(why)) => Sent::NotYet(why),
        Err(Failure::Unknown(why)) => Sent::Unknown(why),
    }
}

/// A request as it is sent.
fn bytes<O: IppOperation>(
    address: &str,
    build: impl FnOnce(Uri) -> Result<O, IppParseError>,
) -> Result<Vec<u8>, String> {
    let wrong = format!("{address} is no address of a printer");
    let uri: Uri = address.parse().map_err(|_| wrong.clone())?;
    let operation = build(uri).map_err(|_| wrong)?;
    let mut bytes = Vec::new();
    let mut request = operation.into_ipp_request().into_read();
    request
        .read_to_end(&mut bytes)
        .map_err(|cause| cause.to_string())?;
    Ok(bytes)
}

async fn call(
    client: &Client,
    address: &str,
    request: Vec<u8>,
) -> Result<IppRequestResponse, Failure> {
    let url = url(address)
        .ok_or_else(|| Failure::NotSent("its address is no address of IPP".to_owned()))?;
    let answer = client
        .send(Request::post(url, CONTENT_TYPE, request))
        .await?;
    if !answer.is_success() {
        return Err(Failure::NotSent(format!(
            "it answered {} to IPP",
            answer.status
        )));
    }
    let parsed = IppParser::new(IppReader::new(Cursor::new(answer.body))).parse();
    let parsed = parsed.map_err(|_| Failure::Unknown("its answer is no IPP".to_owned()))?;
    let status = parsed.header().operation_or_status;
    // 0x0000 to 0x00ff are those of success.
    if (0..=0xff).contains(&status) {
        Ok(parsed)
    } else {
        Err(Failure::NotSent(format!(
            "it refused the job (IPP status {status:#06x})"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipp_is_one_of_http() {
        for (address, reached) in [
            (
                "ipp://192.0.2.9/ipp/print",
                Some("http://192.0.2.9:631/ipp/print"),
            ),
            (
                "ipp://localhost:8631/printers/a",
                Some("http://localhost:8631/printers/a"),
            ),
            ("ipp://[fe80::1]/ipp", Some("http://[fe80::1]:631/ipp")),
            (
                "ipp://[fe80::1]:8631/ipp",
                Some("http://[fe80::1]:8631/ipp"),
            ),
            ("http://192.0.2.9:631/ipp", Some("http://192.0.2.9:631/ipp")),
            ("ipp:///ipp", None),
            ("192.0.2.9", None),
        ] {
            assert_eq!(url(address).as_deref(), reached, "{address}");
        }
    }

    #[test]
    fn a_reason_is_told_in_words_where_it_keeps_from_printing() {
        for (reason, told) in [
            ("none", None),
            ("media-low", None),
            ("media-empty-error", Some("it is out of paper")),
            ("cover-open", Some("it is open")),
            ("developer-empty", Some("it says developer-empty")),
        ] {
            assert_eq!(in_words(reason).as_deref(), told, "{reason}");
        }
    }
}
