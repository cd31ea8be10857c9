//! The fonts that letters are drawn with: the embedded ones, and for letters that they lack those that somebody added.

use crate::{Layout, Pdf, images::Images, layout::Element, presets};
use resvg::usvg::{Options, fontdb};
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};
use ttf_parser::{Face, name_id};

/// The embedded family: Latin, Greek and Cyrillic.
pub(crate) const FAMILY: &str = "Noto Sans";
const EMBEDDED: [&[u8]; 2] = [
    include_bytes!("../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../fonts/NotoSans-Bold.ttf"),
];
/// Letters of a font that it is tried with when it is added.
const TRIED: usize = 20;

/// Fonts, loaded.
#[derive(Debug)]
pub struct Fonts {
    database: Arc<fontdb::Database>,
    /// The letters that both embedded fonts have, or one that was added.
    letters: HashSet<u32>,
}

impl Default for Fonts {
    fn default() -> Self {
        Self::with([])
    }
}

impl Fonts {
    /// The embedded fonts with others, each a file.
    pub fn with(added: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let mut database = fontdb::Database::new();
        let mut load = |font: fontdb::Source| -> HashSet<u32> {
            let faces = database.load_font_source(font);
            let letters = faces
                .into_iter()
                .filter_map(|face| database.with_face_data(face, read_letters));
            letters.flatten().collect()
        };
        let [regular, bold] = EMBEDDED.map(|font| load(fontdb::Source::Binary(Arc::new(font))));
        let mut letters: HashSet<u32> = regular.intersection(&bold).copied().collect();
        for font in added {
            letters.extend(load(fontdb::Source::Binary(Arc::new(font))));
        }
        Self {
            database: Arc::new(database),
            letters,
        }
    }

    /// Returns whether a letter can be drawn, or is one that is not seen.
    pub fn draws(&self, letter: char) -> bool {
        is_unseen(letter) || self.letters.contains(&u32::from(letter))
    }

    pub(crate) fn options(&self) -> Options<'static> {
        let mut options = Options {
            fontdb: Arc::clone(&self.database),
            font_family: FAMILY.to_owned(),
            ..Options::default()
        };
        // Nothing is read from the disk, whatever a layout says.
        options.image_href_resolver.resolve_string = Box::new(|_, _| None);
        // Of several fonts that have a letter, the one nearest in weight.
        options.font_resolver.select_fallback = Box::new(|letter, used, database| {
            let weight = database.face(*used.first()?)?.weight.0;
            let has_letter = |face: &&fontdb::FaceInfo| {
                let found = database.with_face_data(face.id, |font, index| {
                    Face::parse(font, index).ok()?.glyph_index(letter)
                });
                let has_glyph = found.flatten().is_some_and(|glyph| glyph.0 != 0);
                has_glyph && !used.contains(&face.id)
            };
            let fonts = database.faces().filter(has_letter);
            let nearest = fonts.min_by_key(|face| face.weight.0.abs_diff(weight));
            nearest.map(|face| face.id)
        });
        options
    }
}

/// Marks that only join or direct letters, spaces and control characters.
fn is_unseen(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || matches!(
            letter,
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}'
        )
}

/// Checks a file that somebody wants to add, and returns the name of its font.
///
/// # Errors
/// The reason in words.
pub fn check_font(content: &[u8]) -> Result<String, &'static str> {
    const DAMAGED: &str = "this font cannot be printed: it has no outlines, or is damaged";
    let face = Face::parse(content, 0);
    let face = face
        .map_err(|_| "this is no TTF, OTF or TTC font; its content was looked at, not its name")?;
    let name = font_name(&face).ok_or("this font has no name")?;
    let embedded = Fonts::default();
    let is_new = |letter: &char| !embedded.draws(*letter);
    let mut own = read_letters(content, 0).into_iter();
    if !own.any(|letter| char::from_u32(letter).is_some_and(|letter| is_new(&letter))) {
        return Err("this font has no letter that the embedded ones lack");
    }
    let fonts = Fonts::with([content.to_vec()]);
    let letters = fonts.letters.iter();
    let mut new: Vec<char> = letters
        .filter_map(|letter| char::from_u32(*letter))
        .collect();
    new.retain(is_new);
    if new.is_empty() {
        return Err(DAMAGED);
    }
    new.sort_unstable();
    new.truncate(TRIED);
    if draws_in_pdf(&fonts, &new) {
        Ok(name)
    } else {
        Err(DAMAGED)
    }
}

/// The family, with the style unless that is the usual one.
fn font_name(face: &Face<'_>) -> Option<String> {
    let find = |wanted| {
        let names = face.names().into_iter();
        let names = names.filter(|name| name.name_id == wanted && name.is_unicode());
        let mut texts = names.filter_map(|name| name.to_string());
        texts.find(|text| !text.trim().is_empty())
    };
    let family = find(name_id::TYPOGRAPHIC_FAMILY).or_else(|| find(name_id::FAMILY))?;
    let style = find(name_id::TYPOGRAPHIC_SUBFAMILY).or_else(|| find(name_id::SUBFAMILY));
    let style = style.filter(|style| style != "Regular");
    let name = format!("{} {}", family.trim(), style.unwrap_or_default());
    let name: String = name
        .chars()
        .filter(|letter| !letter.is_control())
        .take(100)
        .collect();
    Some(name.trim().to_owned())
}

/// Draws letters as they would be printed.
fn draws_in_pdf(fonts: &Fonts, letters: &[char]) -> bool {
    let text: String = letters.iter().collect();
    let page = |text: &str| {
        let element = serde_json::json!({"kind": "text", "text": "{letters}", "size": 12, "x": 5, "y": 5, "width": 76, "height": 10});
        let mut layout: Layout = presets::all().swap_remove(1);
        layout.front = serde_json::from_value::<Element>(element)
            .into_iter()
            .collect();
        let fields = BTreeMap::from([("letters".to_owned(), text.to_owned())]);
        layout.draw(fonts, &Images::default(), &fields, &|_| false)
    };
    let (drawn, empty) = (page(&text), page(""));
    let is_seen =
        drawn.pages.first().map(crate::Page::svg) != empty.pages.first().map(crate::Page::svg);
    let mut pdf = Pdf::new(None);
    is_seen && drawn.warnings.is_empty() && pdf.add(drawn).is_ok() && pdf.finish().is_ok()
}

/// The letters of a face that have a glyph.
fn read_letters(font: &[u8], face: u32) -> HashSet<u32> {
    let mut letters = HashSet::new();
    let cmap = Face::parse(font, face)
        .ok()
        .and_then(|face| face.tables().cmap);
    let tables = cmap.into_iter().flat_map(|cmap| cmap.subtables);
    for table in tables.filter(ttf_parser::cmap::Subtable::is_unicode) {
        table.codepoints(|letter| {
            if table.glyph_index(letter).is_some_and(|glyph| glyph.0 != 0) {
                letters.insert(letter);
            }
        });
    }
    letters
}
