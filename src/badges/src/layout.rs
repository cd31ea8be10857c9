//! The layout of a badge, as it is stored and exchanged. Lengths are millimetres, sizes of letters points.

use serde::{Deserialize, Serialize};

/// A badge or label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Layout {
    /// Unique among the layouts of a file.
    pub name: String,
    /// The use that it is drawn for.
    #[serde(rename = "for", default, skip_serializing_if = "Purpose::is_badge")]
    pub purpose: Purpose,
    /// Width of one side.
    pub width: f64,
    /// Height of one side.
    pub height: f64,
    pub front: Vec<Element>,
    /// The other side; without elements there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<Element>,
    /// The place of the other side.
    #[serde(default, skip_serializing_if = "Fold::is_none")]
    pub fold: Fold,
    /// Types of attendees who get this layout; empty: all that no other layout names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

/// The use of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    #[default]
    Badge,
    /// A certificate of attendance.
    Certificate,
}

impl Purpose {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_badge(&self) -> bool {
        *self == Self::Badge
    }
}

/// The place of the back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fold {
    /// A page of its own, for printers that print on both sides.
    #[default]
    None,
    /// Below the front on the same page and upside down, so that it is right when the page is folded across.
    Below,
    /// To the right of the front on the same page.
    Beside,
}

impl Fold {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A part of a side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
    #[serde(flatten)]
    pub frame: Frame,
    #[serde(flatten)]
    pub kind: Kind,
    /// The condition on which it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
}

/// The place of an element: of a line its two ends, of everything else a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The content of an element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Kind {
    /// A text with fields such as `{firstName}`. Too long for its frame it shrinks, then takes two lines.
    Text {
        text: String,
        /// Points.
        size: f64,
        #[serde(default, skip_serializing_if = "is_false")]
        bold: bool,
        #[serde(default)]
        align: Align,
        #[serde(default)]
        position: Position,
        #[serde(default = "black")]
        colour: String,
    },
    /// A QR code of a text with fields.
    Qr { text: String },
    /// A Code 128 of a text with fields.
    Code128 { text: String },
    /// A picture that the server has, such as `logo`.
    Image { image: String },
    /// A rectangle.
    Box {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<String>,
        #[serde(default = "thin")]
        thickness: f64,
        #[serde(default)]
        radius: f64,
    },
    /// A line from one corner of its frame to the other.
    Line {
        #[serde(default = "black")]
        colour: String,
        #[serde(default = "thin")]
        thickness: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Align {
    Left,
    #[default]
    Centre,
    Right,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Position {
    Top,
    #[default]
    Middle,
    Bottom,
}

/// A condition on the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// The types of attendees for whom the element is there.
    pub types: Vec<String>,
}

fn black() -> String {
    "#000000".to_owned()
}

fn thin() -> f64 {
    0.3
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}
