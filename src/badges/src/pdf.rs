//! Badges as PDF: a page each, or several on a sheet with marks to cut along.

use crate::draw::{Badge, Page};
use krilla::{
    Document,
    geom::{PathBuilder, Size, Transform},
    num::NormalizedF32,
    page::PageSettings,
    paint::Stroke,
    surface::Surface,
};
use krilla_svg::{SurfaceExt, SvgSettings};

/// Points of a millimetre.
const POINTS: f32 = 72.0 / 25.4;

/// A sheet of paper that takes several badges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    /// Millimetres.
    pub width: f32,
    pub height: f32,
}

impl Sheet {
    pub const A4: Self = Self {
        width: 210.0,
        height: 297.0,
    };

    /// How many pages of a size stand beside and below each other; none where not even one does.
    fn places(self, (width, height): (f32, f32)) -> (usize, usize) {
        // A hair of rounding: four A6 fill an A4.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few, and positive"
        )]
        let count = |room: f32, taken: f32| ((room + 0.5) / taken).floor() as usize;
        (count(self.width, width), count(self.height, height))
    }
}

/// Makes a PDF of badges, one page each, or on sheets.
///
/// # Errors
/// Why it cannot be made, in words of the library.
pub fn pdf(badges: &[Badge], sheet: Option<Sheet>) -> Result<Vec<u8>, String> {
    let mut document = Document::new();
    let pages: Vec<&Page> = badges.iter().flat_map(|badge| &badge.pages).collect();
    match sheet {
        None => {
            for page in pages {
                let (width, height) = page.size;
                on_page(&mut document, (width, height), |surface| {
                    draw(surface, page);
                })?;
            }
        }
        Some(sheet) => on_sheets(&mut document, &pages, sheet)?,
    }
    document.finish().map_err(|cause| format!("{cause:?}"))
}

fn on_sheets(document: &mut Document, pages: &[&Page], sheet: Sheet) -> Result<(), String> {
    let Some(first) = pages.first() else {
        return Ok(());
    };
    let (across, down) = sheet.places(first.size);
    if across * down == 0 {
        return Err("the badge is larger than the sheet".to_owned());
    }
    let (width, height) = first.size;
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let margins = (
        (sheet.width - across as f32 * width).max(0.0) / 2.0,
        (sheet.height - down as f32 * height).max(0.0) / 2.0,
    );
    for on_this in pages.chunks(across * down) {
        on_page(document, (sheet.width, sheet.height), |surface| {
            for (at, page) in on_this.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "a few")]
                let (left, top) = (
                    margins.0 + (at % across) as f32 * width,
                    margins.1 + (at / across) as f32 * height,
                );
                surface.push_transform(&Transform::from_translate(left * POINTS, top * POINTS));
                draw(surface, page);
                cut_marks(surface, page.size);
                surface.pop();
            }
        })?;
    }
    Ok(())
}

fn on_page(
    document: &mut Document,
    (width, height): (f32, f32),
    content: impl FnOnce(&mut Surface<'_>),
) -> Result<(), String> {
    let settings = PageSettings::from_wh(width * POINTS, height * POINTS).ok_or("no such page")?;
    let mut page = document.start_page_with(settings);
    let mut surface = page.surface();
    content(&mut surface);
    surface.finish();
    page.finish();
    Ok(())
}

fn draw(surface: &mut Surface<'_>, page: &Page) {
    let (width, height) = page.size;
    if let Some(size) = Size::from_wh(width * POINTS, height * POINTS) {
        let _ = surface.draw_svg(&page.tree, size, SvgSettings::default());
    }
}

/// Short lines at the corners, within the badge's own edge.
fn cut_marks(surface: &mut Surface<'_>, (width, height): (f32, f32)) {
    const LENGTH: f32 = 3.0;
    let mut path = PathBuilder::new();
    for (x, y) in [(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)] {
        let (to_x, to_y) = (
            if x > 0.0 { x - LENGTH } else { LENGTH },
            if y > 0.0 { y - LENGTH } else { LENGTH },
        );
        path.move_to(x * POINTS, y * POINTS);
        path.line_to(to_x * POINTS, y * POINTS);
        path.move_to(x * POINTS, y * POINTS);
        path.line_to(x * POINTS, to_y * POINTS);
    }
    let Some(path) = path.finish() else {
        return;
    };
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke {
        width: 0.4,
        opacity: NormalizedF32::ONE,
        ..Stroke::default()
    }));
    surface.draw_path(&path);
    surface.set_stroke(None);
}
