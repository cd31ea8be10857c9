//! The fonts that letters are drawn with.

use resvg::usvg::{Options, fontdb};
use std::{collections::HashSet, sync::Arc};

/// The embedded family: Latin, Greek and Cyrillic.
pub(crate) const FAMILY: &str = "Noto Sans";
const EMBEDDED: [&[u8]; 2] = [
    include_bytes!("../fonts/NotoSans-Regular.ttf"),
    include_bytes!("../fonts/NotoSans-Bold.ttf"),
];

/// The embedded fonts and those that were added for other scripts.
#[derive(Debug, Clone)]
pub struct Fonts {
    pub(crate) database: Arc<fontdb::Database>,
    /// The letters that there are.
    letters: Arc<HashSet<u32>>,
}

impl Default for Fonts {
    fn default() -> Self {
        Self::with(&[]).unwrap_or_else(|_| Self {
            database: Arc::default(),
            letters: Arc::default(),
        })
    }
}

impl Fonts {
    /// Loads the embedded fonts and others beside them.
    ///
    /// # Errors
    /// The position of a file that is no font.
    pub fn with(others: &[Vec<u8>]) -> Result<Self, usize> {
        let mut database = fontdb::Database::new();
        let mut letters = HashSet::new();
        for font in EMBEDDED {
            letters.extend(read_letters(font));
            database.load_font_data(font.to_vec());
        }
        for (at, font) in others.iter().enumerate() {
            let found = read_letters(font);
            if found.is_empty() {
                return Err(at);
            }
            letters.extend(found);
            database.load_font_data(font.clone());
        }
        database.set_sans_serif_family(FAMILY);
        Ok(Self {
            database: Arc::new(database),
            letters: Arc::new(letters),
        })
    }

    /// Returns whether some font has the letter.
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
    let faces = ttf_parser::fonts_in_collection(font).unwrap_or(1).min(64);
    for face in (0..faces).filter_map(|at| ttf_parser::Face::parse(font, at).ok()) {
        let Some(cmap) = face.tables().cmap else {
            continue;
        };
        for table in cmap
            .subtables
            .into_iter()
            .filter(ttf_parser::cmap::Subtable::is_unicode)
        {
            table.codepoints(|letter| {
                letters.insert(letter);
            });
        }
    }
    letters
}
