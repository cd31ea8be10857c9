//! Badges as dots, in the languages of label printers.

use crate::draw::Page;
use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use std::io::Write;

/// The most dots of a page: A4 at 300 dots an inch.
const DOTS_MAX: u32 = 9_000_000;
const INCH_MM: f64 = 25.4;

/// A page in black and white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dots {
    pub width: u32,
    pub height: u32,
    /// Rows from above, a bit a dot from the left, 1 is black; each row begins with a byte.
    pub rows: Vec<u8>,
}

impl Dots {
    /// The bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.width.div_ceil(8) as usize
    }
}

impl Page {
    /// Draws the page in dots; nothing where it would be too large.
    pub fn dots(&self, dots_per_inch: u32) -> Option<Dots> {
        let (width, height) = self.size;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded below"
        )]
        let count = |length: f64| {
            (length / INCH_MM * f64::from(dots_per_inch))
                .round()
                .max(1.0) as u32
        };
        let (width, height) = (count(width), count(height));
        if width.checked_mul(height)? > DOTS_MAX {
            return None;
        }
        let mut picture = Pixmap::new(width, height)?;
        picture.fill(Color::WHITE);
        #[expect(clippy::cast_precision_loss, reason = "thousands")]
        let (across, down) = (width as f32, height as f32);
        let drawn = self.tree.size();
        let scale = Transform::from_scale(across / drawn.width(), down / drawn.height());
        resvg::render(&self.tree, scale, &mut picture.as_mut());
        let row_bytes = width.div_ceil(8) as usize;
        let mut rows = vec![0; row_bytes * height as usize];
        for (at, pixel) in picture.pixels().iter().enumerate() {
            // Weights of how bright colours look (ITU-R BT.601), in thousandths.
            let brightness = 299 * u32::from(pixel.red())
                + 587 * u32::from(pixel.green())
                + 114 * u32::from(pixel.blue());
            if brightness < 128_000 {
                let (row, column) = (at / width as usize, at % width as usize);
                rows[row * row_bytes + column / 8] |= 0x80 >> (column % 8);
            }
        }
        Some(Dots {
            width,
            height,
            rows,
        })
    }
}

/// A label in ZPL II, its dots compressed (`:Z64:`).
pub fn zpl(dots: &Dots) -> String {
    let mut compressed = ZlibEncoder::new(Vec::new(), Compression::default());
    // Into memory, which takes everything.
    let _ = compressed.write_all(&dots.rows);
    let data = BASE64_STANDARD.encode(compressed.finish().unwrap_or_default());
    let (total, row) = (dots.rows.len(), dots.row_bytes());
    format!(
        "^XA^PW{}^LL{}^FO0,0^GFA,{total},{total},{row},:Z64:{data}:{:04X}^FS^XZ\n",
        dots.width,
        dots.height,
        crc_16(data.as_bytes())
    )
}

/// CRC-16 with the polynomial 0x1021 and nothing to begin with (XMODEM), which ZPL has behind its data.
pub(crate) fn crc_16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte) << 8, |sum, _| {
            if sum & 0x8000 == 0 {
                sum << 1
            } else {
                sum << 1 ^ 0x1021
            }
        })
    })
}

/// Dots an inch of a Brother QL.
pub const BROTHER_DPI: u32 = 300;

/// A label for a Brother QL ([`BROTHER_DPI`]) on continuous paper of this width: 29, 38, 50, 54 or 62 mm. Nothing
/// where there is no such paper, or the page is wider.
pub fn brother_ql(dots: &Dots, paper_mm: u8) -> Option<Vec<u8>> {
    /// Dots of the print head, and its bytes.
    const HEAD: u32 = 720;
    const HEAD_BYTES: u8 = 90;
    // Dots that reach the paper, and those of the head to the right of it.
    let (printed, right) = match paper_mm {
        29 => (306, 6),
        38 => (413, 12),
        50 => (554, 12),
        54 => (590, 0),
        62 => (696, 12),
        _ => return None,
    };
    // A paper has a margin of some dots that nothing is printed on.
    let (width, cut) = (
        dots.width.min(printed),
        dots.width.saturating_sub(printed) / 2,
    );
    if dots.width > printed + 60 {
        return None;
    }
    let mut job = vec![0; 200];
    job.extend(b"\x1b@"); // Begin anew.
    job.extend(b"\x1bia\x01"); // Dots follow.
    // Continuous paper of this width; so many rows.
    job.extend([0x1b, b'i', b'z', 0x8e, 0x0a, paper_mm, 0]);
    job.extend(dots.height.to_le_bytes());
    job.extend([0, 0]);
    job.extend(b"\x1biM\x40"); // Cut by itself,
    job.extend(b"\x1biA\x01"); // behind each label,
    job.extend(b"\x1biK\x08"); // the last one too.
    job.extend([0x1b, b'i', b'd', 35, 0]); // The feed at both ends, in dots.
    job.extend(b"M\x00"); // Not compressed.
    for row in dots.rows.chunks(dots.row_bytes()) {
        let mut line = vec![0_u8; usize::from(HEAD_BYTES)];
        for column in 0..width {
            let from = (column + cut) as usize;
            if row[from / 8] & 0x80 >> (from % 8) != 0 {
                // The head prints from right to left.
                let to =
                    (right + (printed - width) / 2 + width - 1 - column).min(HEAD - 1) as usize;
                line[to / 8] |= 0x80 >> (to % 8);
            }
        }
        job.extend([b'g', 0, HEAD_BYTES]);
        job.extend(line);
    }
    job.push(0x1a); // Print.
    Some(job)
}

/// A page as PWG raster (PWG 5102.4), in grey, for printers that speak IPP and take no PDF.
pub fn pwg_raster(dots: &Dots, dots_per_inch: u32) -> Vec<u8> {
    const HEADER_BYTES: usize = 1796;
    // Of the header, by their places: numbers of four bytes.
    const RESOLUTION: usize = 276;
    const PAGE_SIZE: usize = 352;
    const WIDTH: usize = 372;
    const BITS: usize = 384;
    const ROW_BYTES: usize = 392;
    const COLOUR_SPACE: usize = 400;
    const COLOURS: usize = 420;
    const PAGES: usize = 452;
    /// Grey, 0 is black.
    const SGRAY: u32 = 18;
    let mut header = [0; HEADER_BYTES];
    header[..9].copy_from_slice(b"PwgRaster");
    let mut put = |at: usize, values: &[u32]| {
        for (value, place) in values.iter().zip(header[at..].chunks_exact_mut(4)) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    };
    let points = |count: u32| count * 72 / dots_per_inch;
    put(RESOLUTION, &[dots_per_inch, dots_per_inch]);
    put(PAGE_SIZE, &[points(dots.width), points(dots.height)]);
    put(WIDTH, &[dots.width, dots.height]);
    put(BITS, &[8, 8]);
    put(ROW_BYTES, &[dots.width]);
    put(COLOUR_SPACE, &[SGRAY]);
    put(COLOURS, &[1]);
    put(PAGES, &[1, 1, 1]);
    let mut job = b"RaS2".to_vec();
    job.extend(header);
    for row in dots.rows.chunks(dots.row_bytes()) {
        // This row once.
        job.push(0);
        let grey = (0..dots.width as usize).map(|at| {
            let is_black = row[at / 8] & 0x80 >> (at % 8) != 0;
            if is_black { 0 } else { 255 }
        });
        for run in grey.collect::<Vec<u8>>().chunk_by(|one, next| one == next) {
            // A byte may stand for up to 128 dots.
            for part in run.chunks(128) {
                job.push(u8::try_from(part.len() - 1).unwrap_or_default());
                job.push(part[0]);
            }
        }
    }
    job
}
