//! Layouts to begin with.

use crate::layout::{Align, Element, Fold, Frame, Kind, Layout, Position, Purpose};

/// Every preset, in the order in which they are offered.
pub fn all() -> Vec<Layout> {
    vec![
        card("A6, four on an A4", 105.0, 148.0),
        card("Card 86 × 54", 86.0, 54.0),
        card("Label 102 × 152", 102.0, 152.0),
        card("Brother 62", 62.0, 100.0),
        card("DYMO 54 × 101", 101.0, 54.0),
        folded(),
        certificate(),
    ]
}

fn text(text: &str, size: f64, bold: bool, frame: Frame) -> Element {
    let kind = Kind::Text {
        text: text.to_owned(),
        size: size.round(),
        bold,
        align: Align::Centre,
        position: Position::Middle,
        colour: "#000000".to_owned(),
    };
    Element {
        frame,
        kind,
        when: None,
    }
}

fn qr(frame: Frame) -> Element {
    let text = "{ticket}".to_owned();
    Element {
        frame,
        kind: Kind::Qr { text },
        when: None,
    }
}

fn at(x: f64, y: f64, width: f64, height: f64) -> Frame {
    let [x, y, width, height] = [x, y, width, height].map(|length| (length * 10.0).round() / 10.0);
    Frame {
        x,
        y,
        width,
        height,
    }
}

/// A name and a company above a code, or beside it where the badge is wide.
fn card(name: &str, width: f64, height: f64) -> Layout {
    let edge = width.min(height) * 0.06;
    let is_wide = width > height;
    let code = if is_wide { height * 0.42 } else { width * 0.4 };
    let words = width - 2.0 * edge;
    // Points; a name is read across a table.
    let large = width.min(height) * 0.55;
    // Each text: its size, whether it is bold, and where it begins and how high it is, in parts of the height.
    let beside = words - code - edge;
    let texts = if is_wide {
        vec![
            ("{firstName}", 1.0, true, (edge / height, 0.28), words),
            ("{lastName}", 0.7, false, (0.35, 0.2), words),
            ("{company}", 0.5, false, (0.6, 0.16), beside),
            ("{type}", 0.45, true, (0.78, 0.15), beside),
        ]
    } else {
        vec![
            ("{eventName}", 0.3, false, (edge / height, 0.1), words),
            ("{firstName}", 1.0, true, (0.17, 0.17), words),
            ("{lastName}", 0.7, false, (0.34, 0.12), words),
            ("{company}", 0.45, false, (0.48, 0.09), words),
            ("{type}", 0.45, true, (0.89, 0.08), words),
        ]
    };
    let place_of_code = if is_wide {
        at(width - edge - code, height - code, code, code - edge)
    } else {
        at((width - code) / 2.0, height * 0.59, code, code)
    };
    let texts = texts
        .into_iter()
        .map(|(field, size, bold, (top, high), wide)| {
            let frame = at(edge, top * height, wide, high * height);
            text(field, large * size, bold, frame)
        });
    let front = texts.chain([qr(place_of_code)]).collect();
    Layout {
        name: name.to_owned(),
        purpose: Purpose::Badge,
        width,
        height,
        front,
        back: Vec::new(),
        fold: Fold::None,
        types: Vec::new(),
    }
}

/// A page that is folded to an A6: the code is on the back.
fn folded() -> Layout {
    let mut folded = card("Folded A6", 105.0, 148.0);
    folded.back = vec![
        qr(at(32.5, 20.0, 40.0, 40.0)),
        text("{ticket}", 10.0, false, at(10.0, 62.0, 85.0, 6.0)),
    ];
    folded.fold = Fold::Below;
    folded
}

/// A certificate of attendance, to be framed. The code at its foot is there only where it has an address.
pub fn certificate() -> Layout {
    const CODE: &str = "{certificateUrl}";
    let frame = Element {
        frame: at(12.0, 12.0, 186.0, 273.0),
        kind: Kind::Box {
            fill: None,
            line: Some("#0b5c52".to_owned()),
            thickness: 0.8,
            radius: 3.0,
        },
        when: None,
    };
    let rule = Element {
        frame: at(65.0, 139.0, 80.0, 0.0),
        kind: Kind::Line {
            colour: "#0b5c52".to_owned(),
            thickness: 0.5,
        },
        when: None,
    };
    let mut qr = qr(at(22.0, 247.0, 30.0, 30.0));
    qr.kind = Kind::Qr {
        text: CODE.to_owned(),
    };
    let mut code = text(CODE, 9.0, false, at(56.0, 252.0, 130.0, 20.0));
    if let Kind::Text { align, .. } = &mut code.kind {
        *align = Align::Left;
    }
    // Each text: its size, whether it is bold, from where and how high it is.
    let texts = [
        ("{eventName}", 16.0, false, 30.0, 10.0),
        ("Certificate of attendance", 32.0, true, 58.0, 18.0),
        ("This certifies that", 14.0, false, 96.0, 8.0),
        ("{name}", 36.0, true, 112.0, 22.0),
        ("attended", 14.0, false, 146.0, 8.0),
        ("{event}", 24.0, true, 160.0, 20.0),
        ("{dates}", 14.0, false, 184.0, 8.0),
        ("{attended} ({percent})", 14.0, false, 196.0, 8.0),
    ];
    let texts = texts.into_iter().map(|(words, size, bold, top, height)| {
        text(words, size, bold, at(25.0, top, 160.0, height))
    });
    Layout {
        name: "Certificate (A4)".to_owned(),
        purpose: Purpose::Certificate,
        width: 210.0,
        height: 297.0,
        front: [vec![frame, rule], texts.collect(), vec![qr, code]].concat(),
        back: Vec::new(),
        fold: Fold::None,
        types: Vec::new(),
    }
}
