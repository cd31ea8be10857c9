//! QR codes and Code 128 as rectangles of a drawing.

use crate::layout::Frame;
use barcoders::sym::code128::Code128;
use std::fmt::Write;

/// Draws a QR code in the middle of a frame, with the quiet zone that readers need.
pub(crate) fn qr(text: &str, frame: Frame) -> Option<String> {
    const QUIET: usize = 4;
    let code = fast_qr::QRBuilder::new(text)
        .ecl(fast_qr::ECL::M)
        .build()
        .ok()?;
    let modules = code.size + 2 * QUIET;
    #[expect(clippy::cast_precision_loss, reason = "at most 185")]
    let module = frame.width.min(frame.height) / modules as f64;
    #[expect(clippy::cast_precision_loss, reason = "at most 185")]
    let side = module * modules as f64;
    let (left, top) = (
        frame.x + (frame.width - side) / 2.0,
        frame.y + (frame.height - side) / 2.0,
    );
    let mut path = String::new();
    for row in 0..code.size {
        for column in 0..code.size {
            if code[row][column].value() {
                let _ = write!(path, "M{} {}h1v1h-1z", column + QUIET, row + QUIET);
            }
        }
    }
    Some(format!(
        "<g transform=\"translate({left} {top}) scale({module})\" shape-rendering=\"crispEdges\">\
         <path d=\"M0 0h{modules}v{modules}H0z\" fill=\"#ffffff\"/><path d=\"{path}\" fill=\"#000000\"/></g>"
    ))
}

/// Draws a Code 128 as wide as its frame, quiet zones included; nothing of what it cannot hold.
pub(crate) fn code_128(text: &str, frame: Frame) -> Option<String> {
    const QUIET: usize = 10;
    if text.is_empty() || text.len() > 80 || !text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    {
        return None;
    }
    // Digits take half the room in the set C, which holds pairs.
    let is_pairs = text.len() >= 4
        && text.len().is_multiple_of(2)
        && text.bytes().all(|byte| byte.is_ascii_digit());
    let set = if is_pairs { '\u{0106}' } else { '\u{0181}' };
    let bars = Code128::new(format!("{set}{text}")).ok()?.encode();
    let modules = bars.len() + 2 * QUIET;
    let mut path = String::new();
    for (at, _) in bars.iter().enumerate().filter(|(_, bar)| **bar == 1) {
        let _ = write!(path, "M{} 0h1v1h-1z", at + QUIET);
    }
    let Frame {
        x,
        y,
        width,
        height,
    } = frame;
    #[expect(clippy::cast_precision_loss, reason = "less than 1000")]
    let module = width / modules as f64;
    Some(format!(
        "<g transform=\"translate({x} {y}) scale({module} {height})\" shape-rendering=\"crispEdges\">\
         <path d=\"M0 0h{modules}v1H0z\" fill=\"#ffffff\"/><path d=\"{path}\" fill=\"#000000\"/></g>"
    ))
}
