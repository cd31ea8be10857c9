//! Badges and labels: a layout in millimetres, drawn with the fields of a person, as SVG, PDF, or dots for a label
//! printer.
//!
//! One drawing serves all: it is laid out as SVG, which the `usvg` crate reads, and what the browser shows, what a PDF
//! holds and what a printer burns are the same. Letters are drawn here, so that no printer needs fonts. A letter that no
//! font has is left out and told; it is never a box.

mod check;
mod code;
mod draw;
mod fit;
mod fonts;
mod images;
mod layout;
mod pdf;
pub mod presets;
mod printers;
#[cfg(test)]
mod test_font;
#[cfg(test)]
mod tests;

pub use check::{ELEMENTS_MAX, Fault, SIDE_MAX_MM, SIDE_MIN_MM};
pub use draw::{Badge, Fields, Page, SIGNED_TICKET, Warning};
pub use fonts::{Fonts, check_font};
pub use images::{Images, too_large};
pub use layout::{Align, Element, Fold, Frame, Kind, Layout, Position, Purpose, When};
pub use pdf::{Pdf, Sheet};
pub use printers::{BROTHER_DPI, Dots, brother_ql, pwg_raster, zpl};
