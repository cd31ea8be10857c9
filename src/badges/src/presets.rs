//! Layouts to begin with.

use crate::layout::{Align, Element, Fold, Frame, Kind, Layout, Position, Purpose};

/// Every preset, in the order in which they are offered.
pub fn all() -> Vec<Layout> {
    vec![
        card("A6", 105.0, 148.0),
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
    let front = if is_wide {
        let beside = words - code - edge;
        vec![
            text(
                "{firstName}",
                large,
                true,
                at(edge, edge, words, height * 0.28),
            ),
            text(
                "{lastName}",
                large * 0.7,
                false,
                at(edge, height * 0.35, words, height * 0.2),
            ),
            text(
                "{company}",
                large * 0.5,
                false,
                at(edge, height * 0.6, beside, height * 0.16),
            ),
            text(
                "{type}",
                large * 0.45,
                true,
                at(edge, height * 0.78, beside, height * 0.15),
            ),
            qr(at(
                width - edge - code,
                height - edge - code + edge,
                code,
                code - edge,
            )),
        ]
    } else {
        vec![
            text(
                "{eventName}",
                large * 0.3,
                false,
                at(edge, edge, words, height * 0.1),
            ),
            text(
                "{firstName}",
                large,
                true,
                at(edge, height * 0.17, words, height * 0.17),
            ),
            text(
                "{lastName}",
                large * 0.7,
                false,
                at(edge, height * 0.34, words, height * 0.12),
            ),
            text(
                "{company}",
                large * 0.45,
                false,
                at(edge, height * 0.48, words, height * 0.09),
            ),
            qr(at((width - code) / 2.0, height * 0.59, code, code)),
            text(
                "{type}",
                large * 0.45,
                true,
                at(edge, height * 0.89, words, height * 0.08),
            ),
        ]
    };
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
    Layout {
        name: "Certificate (A4)".to_owned(),
        purpose: Purpose::Certificate,
        width: 210.0,
        height: 297.0,
        front: vec![
            frame,
            text("{eventName}", 16.0, false, at(25.0, 30.0, 160.0, 10.0)),
            text(
                "Certificate of attendance",
                32.0,
                true,
                at(25.0, 58.0, 160.0, 18.0),
            ),
            text(
                "This certifies that",
                14.0,
                false,
                at(25.0, 96.0, 160.0, 8.0),
            ),
            text("{name}", 36.0, true, at(25.0, 112.0, 160.0, 22.0)),
            rule,
            text("attended", 14.0, false, at(25.0, 146.0, 160.0, 8.0)),
            text("{event}", 24.0, true, at(25.0, 160.0, 160.0, 20.0)),
            text("{dates}", 14.0, false, at(25.0, 184.0, 160.0, 8.0)),
            text(
                "{attended} ({percent})",
                14.0,
                false,
                at(25.0, 196.0, 160.0, 8.0),
            ),
            qr,
            code,
        ],
        back: Vec::new(),
        fold: Fold::None,
        types: Vec::new(),
    }
}
