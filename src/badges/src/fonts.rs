//! The fonts that letters are drawn with.

use resvg::usvg::{Options, fontdb};
use std::{collections::HashSet, sync::Arc};

/// The embedded family: Latin, Greek and Cyrillic.
pub(crate) const FAMILY: &str = "Noto Sans";
const EMBEDDED: [&[u8]; 2] = [
    include_bytes!("../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../fonts/NotoSans-Bold.ttf"),
];

/// The embedded fonts, loaded.
#[derive(Debug)]
pub struct Fonts {
    database: Arc<fontdb::Database>,
    /// The letters that every one of them has.
    letters: HashSet<u32>,
}

impl Default for Fonts {
    fn default() -> Self {
        let mut database = fontdb::Database::new();
        for font in EMBEDDED {
            database.load_font_data(font.to_vec());
        }
        let [regular, bold] = EMBEDDED.map(read_letters);
        Self {
            database: Arc::new(database),
            letters: regular.intersection(&bold).copied().collect(),
        }
    }
}

impl Fonts {
    pub(crate) fn has(&self, letter: char) -> bool {
        self.letters.contains(&u32::from(letter))
    }

    pub(crate) fn options(&self) -> Options<'static> {
        let mut options = Options {
            fontdb: Arc::clone(&self.database),
            font_family: FAMILY.to_owned(),
            ..Options::default()
        };
        // Nothing is read from the disk, whatever a layout says.
        options.image_href_resolver.resolve_string = Box::new(|_, _| None);
        options
    }
}

fn read_letters(font: &[u8]) -> HashSet<u32> {
    let mut letters = HashSet::new();
    let cmap = ttf_parser::Face::parse(font, 0)
        .ok()
        .and_then(|face| face.tables().cmap);
    let tables = cmap.into_iter().flat_map(|cmap| cmap.subtables);
    for table in tables.filter(ttf_parser::cmap::Subtable::is_unicode) {
        table.codepoints(|letter| {
            letters.insert(letter);
        });
    }
    letters
}
