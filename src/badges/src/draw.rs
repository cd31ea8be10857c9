//! The drawing of a badge.

use crate::{
    code,
    fit::{self, LINE, POINT_MM, escaped},
    fonts::{FAMILY, Fonts},
    images::Images,
    layout::{Align, Element, Fold, Frame, Kind, Layout, Position},
};
use resvg::usvg::{Tree, WriteOptions};
use std::{collections::BTreeMap, fmt::Write};

/// The fields of a person, by name.
pub type Fields = BTreeMap<String, String>;

/// The field of a signed ticket: QR codes have it in the place of `ticket` and `barcode`.
pub const SIGNED_TICKET: &str = "signedTicket";
/// The most characters of one text; the rest is cut off and told.
const CHARS_MAX: usize = 200;

/// Something about a badge that a person has to know before it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A text became so small that it is hardly read, or was cut off.
    TooLong { text: String },
    /// No font has these letters.
    NoLetters { text: String, letters: String },
    /// A code cannot hold the text.
    NoCode { text: String },
    /// There is no such picture that can be drawn.
    NoImage { image: String },
    /// A picture has more pixels, so many across and down, than can be drawn.
    LargeImage { image: String, size: (usize, usize) },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong { text } => write!(f, "too long for its place: {text}"),
            Self::NoLetters { text, letters } => {
                write!(f, "no font has {letters} of {text}, which is left out")
            }
            Self::NoCode { text } => write!(f, "no code can hold: {text}"),
            Self::NoImage { image } => write!(f, "there is no picture {image} that can be drawn"),
            Self::LargeImage {
                image,
                size: (width, height),
            } => write!(
                f,
                "the picture {image} is left out: {width} × {height} pixels are too many"
            ),
        }
    }
}

/// A badge as it is shown and printed: a page, or one for each side.
#[derive(Debug)]
pub struct Badge {
    pub pages: Vec<Page>,
    pub warnings: Vec<Warning>,
}

/// A page of a badge.
#[derive(Debug)]
pub struct Page {
    /// Width and height in millimetres.
    pub size: (f64, f64),
    pub(crate) tree: Tree,
}

impl Page {
    /// The page as SVG, letters as shapes: it looks the same everywhere.
    pub fn svg(&self) -> String {
        let svg = self.tree.to_string(&WriteOptions::default());
        let (width, height) = self.size;
        // Its own size is in dots; on paper millimetres count.
        let end = svg.find('>').unwrap_or_default();
        let (view_width, view_height) = (self.tree.size().width(), self.tree.size().height());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{width}mm\" \
             height=\"{height}mm\" viewBox=\"0 0 {view_width} {view_height}\"{}",
            &svg[end..]
        )
    }
}

impl Layout {
    /// Draws a badge with the fields of a person; `is_of` tells which types are theirs.
    pub fn draw(
        &self,
        fonts: &Fonts,
        images: &Images,
        fields: &Fields,
        is_of: &dyn Fn(&[String]) -> bool,
    ) -> Badge {
        let mut drawing = Drawing {
            fonts,
            images,
            fields,
            is_of,
            warnings: Vec::new(),
        };
        let (width, height) = (self.width, self.height);
        let front = drawing.side(&self.front);
        let back = (!self.back.is_empty()).then(|| drawing.side(&self.back));
        let pages: Vec<(f64, f64, String)> = match (back, self.fold) {
            (None, _) => vec![(width, height, front)],
            (Some(back), Fold::None) => vec![(width, height, front), (width, height, back)],
            (Some(back), Fold::Below) => {
                let turned = format!("rotate(180 {} {height})", width / 2.0);
                let (above, below) = (front, format!("<g transform=\"{turned}\">{back}</g>"));
                vec![(width, 2.0 * height, above + &below)]
            }
            (Some(back), Fold::Beside) => {
                let beside = format!("<g transform=\"translate({width} 0)\">{back}</g>");
                vec![(2.0 * width, height, front + &beside)]
            }
        };
        let options = fonts.options();
        let pages = pages.into_iter().filter_map(|(width, height, content)| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
                 width=\"{width}mm\" height=\"{height}mm\" viewBox=\"0 0 {width} {height}\">{content}</svg>"
            );
            let tree = Tree::from_str(&svg, &options).ok()?;
            Some(Page { size: (width, height), tree })
        });
        Badge {
            pages: pages.collect(),
            warnings: drawing.warnings,
        }
    }
}

struct Drawing<'a> {
    fonts: &'a Fonts,
    images: &'a Images,
    fields: &'a Fields,
    is_of: &'a dyn Fn(&[String]) -> bool,
    warnings: Vec<Warning>,
}

impl Drawing<'_> {
    fn side(&mut self, elements: &[Element]) -> String {
        let is_of = self.is_of;
        let is_shown =
            |element: &&Element| element.when.as_ref().is_none_or(|when| is_of(&when.types));
        let shown = elements.iter().filter(is_shown);
        shown.map(|element| self.element(element)).collect()
    }

    fn element(&mut self, Element { frame, kind, .. }: &Element) -> String {
        let Frame {
            x,
            y,
            width,
            height,
        } = *frame;
        match kind {
            Kind::Text {
                text,
                size,
                bold,
                align,
                position,
                colour,
            } => {
                let text = self.text(text);
                if text.is_empty() {
                    return String::new();
                }
                let fitted = fit::fit(self.fonts, &text, *bold, *size, (width, height));
                if fitted.is_too_long {
                    self.warnings.push(Warning::TooLong { text });
                }
                lines(&fitted, *frame, *bold, (*align, *position), colour)
            }
            Kind::Qr { text } => self.code(&self.with_signed(text), *frame, code::qr),
            Kind::Code128 { text } => self.code(text, *frame, code::code_128),
            Kind::Image { image } => {
                let address = match self.images.address(image) {
                    Ok(address) => address,
                    Err(warning) => {
                        self.warnings.push(warning);
                        return String::new();
                    }
                };
                format!(
                    "<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" xlink:href=\"{address}\"/>"
                )
            }
            Kind::Box {
                fill,
                line,
                thickness,
                radius,
            } => format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"{}\" \
                 stroke=\"{}\" stroke-width=\"{thickness}\"/>",
                fill.as_deref().unwrap_or("none"),
                line.as_deref().unwrap_or("none")
            ),
            Kind::Line { colour, thickness } => format!(
                "<path d=\"M{x} {y}L{} {}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{thickness}\"/>",
                x + width,
                y + height
            ),
        }
    }

    /// The text of a QR code, with the signed ticket in the place of the code, where there is one.
    fn with_signed(&self, text: &str) -> String {
        if !self.fields.contains_key(SIGNED_TICKET) {
            return text.to_owned();
        }
        let signed = format!("{{{SIGNED_TICKET}}}");
        ["{ticket}", "{barcode}"]
            .iter()
            .fold(text.to_owned(), |text, code| text.replace(code, &signed))
    }

    fn code(
        &mut self,
        text: &str,
        frame: Frame,
        draw: fn(&str, Frame) -> Option<String>,
    ) -> String {
        let text = self.filled(text);
        if text.is_empty() {
            return String::new();
        }
        draw(&text, frame).unwrap_or_else(|| {
            self.warnings.push(Warning::NoCode { text });
            String::new()
        })
    }

    /// A text with its fields, as letters that there are.
    fn text(&mut self, text: &str) -> String {
        let mut filled = self.filled(text);
        if let Some((end, _)) = filled.char_indices().nth(CHARS_MAX) {
            filled.truncate(end);
            filled.push('…');
            self.warnings.push(Warning::TooLong {
                text: filled.clone(),
            });
        }
        let (mut drawn, mut missing) = (String::new(), String::new());
        for letter in filled.chars() {
            match letter {
                _ if letter.is_whitespace() => drawn.push(' '),
                _ if letter.is_control() => {}
                _ if self.fonts.draws(letter) => drawn.push(letter),
                _ => missing.push(letter),
            }
        }
        if !missing.is_empty() {
            let (text, letters) = (filled, missing);
            self.warnings.push(Warning::NoLetters { text, letters });
        }
        let words: Vec<&str> = drawn.split_ascii_whitespace().collect();
        words.join(" ")
    }

    /// A text with the values of its fields, `{{` and `}}` being braces.
    fn filled(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            filled.push_str(&rest[..at]);
            let (brace, behind) = rest[at..].split_at(1);
            rest = behind;
            if let Some(behind) = rest.strip_prefix(brace) {
                filled.push_str(brace);
                rest = behind;
            } else if brace == "{"
                && let Some((name, behind)) = rest.split_once('}')
            {
                filled.push_str(self.fields.get(name.trim()).map_or("", String::as_str));
                rest = behind;
            }
        }
        filled.push_str(rest);
        filled.trim().to_owned()
    }
}

/// The lines of a text.
fn lines(
    fitted: &fit::Fitted,
    frame: Frame,
    bold: bool,
    (align, position): (Align, Position),
    colour: &str,
) -> String {
    /// The height of capitals, in sizes of the letters.
    const CAPITALS: f64 = 0.714;
    let size = fitted.size * POINT_MM;
    #[expect(clippy::cast_precision_loss, reason = "one or two")]
    let below_first = (fitted.lines.len() - 1) as f64 * LINE * size;
    let height = below_first + CAPITALS * size;
    let top = match position {
        Position::Top => frame.y + 0.1 * size,
        Position::Middle => frame.y + (frame.height - height) / 2.0,
        Position::Bottom => frame.y + frame.height - height - 0.24 * size,
    };
    let (x, anchor) = match align {
        Align::Left => (frame.x, "start"),
        Align::Centre => (frame.x + frame.width / 2.0, "middle"),
        Align::Right => (frame.x + frame.width, "end"),
    };
    let weight = if bold { 700 } else { 400 };
    let mut drawn = String::new();
    for (at, line) in fitted.lines.iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "one or two")]
        let baseline = top + CAPITALS * size + at as f64 * LINE * size;
        let _ = write!(
            drawn,
            "<text xml:space=\"preserve\" x=\"{x}\" y=\"{baseline}\" text-anchor=\"{anchor}\" font-family=\"{FAMILY}\" \
             font-weight=\"{weight}\" font-size=\"{size}\" fill=\"{colour}\">{}</text>",
            escaped(line)
        );
    }
    drawn
}
