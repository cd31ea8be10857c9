//! Our badges as others read them: a drawer of ZPL, an analyser of Brother's raster, and poppler (`tests/run` installs them).

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

use badges::{BROTHER_DPI, Badge, Fields, Fonts, Images, Pdf, Sheet, brother_ql, presets, zpl};
use resvg::tiny_skia::Pixmap;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const TICKET: &str = "TLH26-FJ7ADVN4";

fn badge(preset: &str, first: &str, last: &str) -> Badge {
    let fields = [
        ("firstName", first),
        ("lastName", last),
        ("name", first),
        ("company", "Αθήνα & Київ"),
        ("ticket", TICKET),
        ("type", "Speaker"),
    ];
    let fields: Fields = fields
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let layout = presets::all();
    let layout = layout.iter().find(|layout| layout.name == preset).unwrap();
    layout.draw(&Fonts::default(), &Images::default(), &fields, &|_| true)
}

/// The folder in which `tests/run` installs tools.
fn tools() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let told = command.output();
    let told = told.unwrap_or_else(|cause| panic!("{command:?}: {cause}; tests/run installs it"));
    let errors = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&told.stdout).into_owned() + &errors
}

/// The texts of the QR codes in a picture.
fn codes(picture: &Path) -> Vec<String> {
    let picture = Pixmap::decode_png(&fs::read(picture).unwrap()).unwrap();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let pixels = picture.pixels();
    let grey = |x: usize, y: usize| pixels[y * width + x].green();
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(width, height, grey);
    let grids = prepared.detect_grids();
    grids.iter().map(|grid| grid.decode().unwrap().1).collect()
}

#[test]
fn a_label_in_zpl_is_drawn_with_a_code_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let (label, picture) = (
        folder.path().join("label.zpl"),
        folder.path().join("label.png"),
    );
    let badge = badge("Card 86 × 54", "Zoë", "Müller-Łódzka");
    // 300 dots an inch are 12 a millimetre.
    fs::write(&label, zpl(&badge.pages[0].dots(300).unwrap())).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/badges/draw.mjs");
    let mut node = Command::new("node");
    let packages = tools().join("badges");
    run(node
        .arg(script)
        .arg(packages)
        .arg(&label)
        .args(["86", "54", "12"])
        .arg(&picture));
    assert_eq!(codes(&picture), [TICKET]);
}

#[test]
fn a_label_for_a_brother_is_understood_and_has_a_code_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let label = folder.path().join("label.ql");
    let badge = badge("Brother 62", "Zoë", "Müller-Łódzka");
    let dots = badge.pages[0].dots(BROTHER_DPI).unwrap();
    fs::write(&label, brother_ql(&dots, 62).unwrap()).unwrap();
    let analyser = tools().join("brother_ql/bin/brother_ql_analyse");
    let told = run(Command::new(analyser)
        .arg(&label)
        .current_dir(folder.path()));
    assert!(told.contains("Page saved"), "{told}");
    let picture = folder.path().join("label0001.png");
    assert_eq!(codes(&picture), [TICKET]);
}

#[test]
fn a_pdf_has_names_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut pdf = Pdf::new(Some(Sheet::A4));
    let names = [
        ("Zoë", "Müller-Łódzka"),
        ("Ελένη", "Παπαδοπούλου"),
        ("Олександр", "Київський"),
    ];
    for (first, last) in names {
        pdf.add(badge("A6, four on an A4", first, last)).unwrap();
    }
    let path = folder.path().join("badges.pdf");
    fs::write(&path, pdf.finish().unwrap()).unwrap();
    let text = run(Command::new("pdftotext").arg(&path).arg("-"));
    for (first, last) in names {
        assert!(text.contains(first) && text.contains(last), "{text}");
    }
    let picture = folder.path().join("page");
    run(Command::new("pdftoppm")
        .args(["-r", "150", "-png", "-singlefile"])
        .arg(&path)
        .arg(&picture));
    assert_eq!(codes(&picture.with_extension("png")), [TICKET; 3]);
}
