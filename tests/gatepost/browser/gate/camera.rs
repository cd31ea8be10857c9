//! A phone's camera: what it sees is a film that the test makes.

use super::venue::Venue;
use crate::browser::window::Browser;
use fast_qr::QRBuilder;
use serde_json::json;
use std::path::Path;

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
const DOT: usize = 6;

/// A film of ten pictures a second, each for as many pictures as it says: a code, or an empty wall.
fn film(file: &Path, scenes: &[(Option<&str>, usize)]) {
    let mut film = format!("YUV4MPEG2 W{WIDTH} H{HEIGHT} F10:1 Ip A1:1 C420jpeg\n").into_bytes();
    for (code, pictures) in scenes {
        let mut grey = vec![200; WIDTH * HEIGHT];
        if let Some(code) = code {
            draw(&mut grey, code);
        }
        for _ in 0..*pictures {
            film.extend(b"FRAME\n");
            film.extend(&grey);
            // No colours.
            film.resize(film.len() + WIDTH * HEIGHT / 2, 128);
        }
    }
    std::fs::write(file, film).expect("a film");
}

/// Draws a QR code on white paper.
fn draw(grey: &mut [u8], code: &str) {
    let qr = QRBuilder::new(code).build().expect("a code");
    let paper = (qr.size + 8) * DOT;
    for y in 0..paper {
        for x in 0..paper {
            let (row, column) = (y / DOT, x / DOT);
            let inside = |at: usize| (4..qr.size + 4).contains(&at);
            let is_dark = inside(row) && inside(column) && qr[row - 4][column - 4].value();
            grey[(y + 20) * WIDTH + x + 60] = if is_dark { 20 } else { 245 };
        }
    }
}

#[test]
fn the_camera_reads_a_ticket_once_and_then_the_next() {
    let venue = Venue::new(2, json!({}));
    let network = venue.network();
    let file = venue.server.folder.path().join("tickets.y4m");
    film(
        &file,
        &[(Some("T-1"), 40), (None, 10), (Some("T-2"), 40), (None, 40)],
    );
    let gate = Browser::open_with(
        &network.origin(),
        &[
            "--use-fake-device-for-media-stream".to_owned(),
            "--use-fake-ui-for-media-stream".to_owned(),
            format!("--use-file-for-fake-video-capture={}", file.display()),
        ],
    );
    venue.set_up(&gate);
    gate.press("Camera");
    gate.until("the first ticket is read", || venue.check_ins() > 0);
    super::shows(&gate, &["Welcome", "No1x"]);
    // It stays in the picture for four seconds.
    super::shows(&gate, &["Welcome", "No2x"]);
    venue.has_each_once(&gate, 2);
    // The camera is on again after a restart.
    gate.reload();
    gate.until("the camera is on", || gate.has("#video:not([hidden])"));
}
