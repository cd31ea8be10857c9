//! The pictures of the handbook, where `GATEPOST_PICTURES` names a folder for them.

use super::window::{Browser, DESK, View};
use std::{cmp::Reverse, collections::HashMap, io::Cursor, path::PathBuf};

const FRAME: View = View {
    width: 1280,
    height: 760,
    scheme: "light",
};

/// Where pictures go.
pub struct Pictures(Option<PathBuf>);

impl Pictures {
    /// As the environment says.
    pub fn wanted() -> Self {
        let folder = std::env::var_os("GATEPOST_PICTURES").map(PathBuf::from);
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).expect("a folder for pictures");
        }
        Self(folder)
    }

    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Keeps what the page shows.
    #[track_caller]
    pub fn take(&self, browser: &Browser, name: &str) {
        self.take_as(browser, name, FRAME);
    }

    /// Keeps what the page shows in a window like this.
    #[track_caller]
    pub fn take_as(&self, browser: &Browser, name: &str, view: View) {
        let Some(folder) = &self.0 else {
            return;
        };
        browser.look(view);
        browser.run("scrollTo(0, 0); document.activeElement?.blur()", &[]);
        let picture = packed(&Pixels::of(&browser.picture()));
        browser.look(DESK);
        std::fs::write(folder.join(format!("{name}.png")), picture).expect("a picture");
    }
}

/// A picture's pixels: red, green and blue, line after line.
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    colours: Vec<[u8; 3]>,
}

impl Pixels {
    /// Those of a PNG.
    pub fn of(picture: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(Cursor::new(picture));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().expect("a PNG");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
        let frame = reader.next_frame(&mut bytes).expect("a picture");
        let samples = frame.color_type.samples();
        let colour = |pixel: &[u8]| match pixel {
            [red, green, blue, ..] => [*red, *green, *blue],
            grey => [grey[0]; 3],
        };
        Self {
            width: frame.width as usize,
            height: frame.height as usize,
            colours: bytes.chunks_exact(samples).map(colour).collect(),
        }
    }

    /// How bright a pixel is.
    pub fn grey(&self, x: usize, y: usize) -> u8 {
        let sum: u16 = self.colours[y * self.width + x].map(u16::from).iter().sum();
        u8::try_from(sum / 3).unwrap_or(u8::MAX)
    }
}

/// As PNG in a third of the bytes that the browser takes: with a palette of the 256 colours that are
/// there most, which on a page are nearly all.
fn packed(pixels: &Pixels) -> Vec<u8> {
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    for colour in &pixels.colours {
        *counts.entry(*colour).or_default() += 1;
    }
    let mut palette: Vec<[u8; 3]> = counts.keys().copied().collect();
    palette.sort_by_key(|colour| (Reverse(counts[colour]), *colour));
    let nearest: HashMap<[u8; 3], u8> = palette
        .iter()
        .map(|colour| {
            let offered = (0..=u8::MAX).zip(&palette);
            let (index, _) = offered
                .min_by_key(|(_, other)| distance(*colour, **other))
                .expect("a colour");
            (*colour, index)
        })
        .collect();
    palette.truncate(256);
    let indexes: Vec<u8> = pixels
        .colours
        .iter()
        .map(|colour| nearest[colour])
        .collect();
    let size = [pixels.width, pixels.height].map(|side| u32::try_from(side).expect("a size"));
    let mut packed = Vec::new();
    let mut encoder = png::Encoder::new(&mut packed, size[0], size[1]);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(palette.as_flattened());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&indexes).expect("a picture");
    writer.finish().expect("an end");
    packed
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    let parts = one.iter().zip(&other);
    parts
        .map(|(one, other)| u32::from(one.abs_diff(*other)).pow(2))
        .sum()
}
