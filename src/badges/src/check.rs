//! The bounds of a layout.

use crate::layout::{Element, Kind, Layout};

/// The shortest and the longest side.
pub const SIDE_MIN_MM: f64 = 10.0;
pub const SIDE_MAX_MM: f64 = 420.0;
/// The most elements of both sides.
pub const ELEMENTS_MAX: usize = 200;
const TEXT_MAX_CHARS: usize = 500;
const LETTERS_MAX_PT: f64 = 300.0;

/// A part of a layout that cannot be as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The part, such as `front[2].colour`.
    pub field: String,
    pub message: String,
}

impl Fault {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl Layout {
    /// Checks what the types leave open.
    ///
    /// # Errors
    /// The first part that is wrong.
    pub fn check(&self) -> Result<(), Fault> {
        if self.name.trim().is_empty() || self.name.chars().count() > 100 {
            return Err(Fault::new("name", "must have 1 to 100 characters"));
        }
        for (field, side) in [("width", self.width), ("height", self.height)] {
            if !(SIDE_MIN_MM..=SIDE_MAX_MM).contains(&side) {
                let bounds = format!("must be {SIDE_MIN_MM} to {SIDE_MAX_MM} mm");
                return Err(Fault::new(field, bounds));
            }
        }
        if self.front.len() + self.back.len() > ELEMENTS_MAX {
            let bounds = format!("a badge may have {ELEMENTS_MAX} elements");
            return Err(Fault::new("front", bounds));
        }
        for (side, elements) in [("front", &self.front), ("back", &self.back)] {
            for (at, element) in elements.iter().enumerate() {
                element.check().map_err(|fault| {
                    let field = format!("{side}[{at}].{}", fault.field);
                    Fault::new(field, fault.message)
                })?;
            }
        }
        Ok(())
    }
}

impl Element {
    fn check(&self) -> Result<(), Fault> {
        let frame = self.frame;
        for (field, length) in [("x", frame.x), ("y", frame.y)] {
            if !(-SIDE_MAX_MM..=SIDE_MAX_MM).contains(&length) {
                return Err(Fault::new(field, "is no place on a badge"));
            }
        }
        let is_line = matches!(self.kind, Kind::Line { .. });
        for (field, length) in [("width", frame.width), ("height", frame.height)] {
            if !(0.0..=SIDE_MAX_MM).contains(&length) || length == 0.0 && !is_line {
                return Err(Fault::new(field, format!("must be up to {SIDE_MAX_MM} mm")));
            }
        }
        match &self.kind {
            Kind::Text {
                text, size, colour, ..
            } => {
                check_text(text)?;
                if !(1.0..=LETTERS_MAX_PT).contains(size) {
                    return Err(Fault::new(
                        "size",
                        format!("must be 1 to {LETTERS_MAX_PT} points"),
                    ));
                }
                check_colour("colour", colour)
            }
            Kind::Qr { text } | Kind::Code128 { text } => check_text(text),
            Kind::Image { image } => {
                if image.is_empty() || image.len() > 100 {
                    return Err(Fault::new("image", "must be the name of a picture"));
                }
                Ok(())
            }
            Kind::Box {
                fill,
                line,
                thickness,
                radius,
            } => {
                for (field, colour) in [("fill", fill), ("line", line)] {
                    colour
                        .as_ref()
                        .map_or(Ok(()), |colour| check_colour(field, colour))?;
                }
                check_length("thickness", *thickness)?;
                check_length("radius", *radius)
            }
            Kind::Line { colour, thickness } => {
                check_length("thickness", *thickness)?;
                check_colour("colour", colour)
            }
        }
    }
}

fn check_text(text: &str) -> Result<(), Fault> {
    if text.is_empty() || text.chars().count() > TEXT_MAX_CHARS {
        let bounds = format!("must have 1 to {TEXT_MAX_CHARS} characters");
        return Err(Fault::new("text", bounds));
    }
    Ok(())
}

fn check_length(field: &str, length: f64) -> Result<(), Fault> {
    if (0.0..=50.0).contains(&length) {
        return Ok(());
    }
    Err(Fault::new(field, "must be 0 to 50 mm"))
}

fn check_colour(field: &str, colour: &str) -> Result<(), Fault> {
    let digits = colour.strip_prefix('#').unwrap_or_default();
    if digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(());
    }
    Err(Fault::new(field, "must be a colour such as #1a2b3c"))
}
