//! Badges as PDF: a page each, or several on a sheet with marks to cut along.

use crate::draw::{Badge, Page};
use krilla::{
    Document,
    geom::{PathBuilder, Size, Transform},
    page::PageSettings,
    paint::Stroke,
    surface::Surface,
};
use krilla_svg::{SurfaceExt, SvgSettings};

/// Points of a millimetre.
const POINTS: f64 = 72.0 / 25.4;

#[expect(
    clippy::cast_possible_truncation,
    reason = "some hundreds, and a hundredth does not matter"
)]
fn points(millimetres: f64) -> f32 {
    (millimetres * POINTS) as f32
}

/// A sheet of paper that takes several badges; its sides in millimetres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sheet {
    pub width: f64,
    pub height: f64,
}

impl Sheet {
    pub const A4: Self = Self {
        width: 210.0,
        height: 297.0,
    };

    /// Returns where pages of a size stand on it, from the upper left: none where not even one has room.
    fn places(self, (width, height): (f64, f64)) -> Vec<(f64, f64)> {
        let along = |room: f64, taken: f64| {
            // A hair of rounding: four A6 fill an A4.
            let count = ((room + 0.5) / taken).floor();
            let margin = (room - count * taken).max(0.0) / 2.0;
            let starts = (0_u8..).map(move |at| margin + f64::from(at) * taken);
            starts.take_while(move |start| start + taken <= room + 0.5)
        };
        let rows = along(self.height, height);
        rows.flat_map(|top| along(self.width, width).map(move |left| (left, top)))
            .collect()
    }
}

/// A PDF that badges are added to, each drawn at once and then let go.
pub struct Pdf {
    document: Document,
    sheet: Option<Sheet>,
    /// Pages for sheets that are not full yet, those of one size together.
    waiting: Vec<Vec<Page>>,
}

impl Pdf {
    /// Begins one of a page for each side of a badge, or of sheets.
    pub fn new(sheet: Option<Sheet>) -> Self {
        Self {
            document: Document::new(),
            sheet,
            waiting: Vec::new(),
        }
    }

    /// Adds a badge.
    ///
    /// # Errors
    /// The badge is larger than the sheet.
    pub fn add(&mut self, badge: Badge) -> Result<(), &'static str> {
        for page in badge.pages {
            let Some(sheet) = self.sheet else {
                on_page(&mut self.document, page.size, |surface| {
                    draw(surface, &page);
                });
                continue;
            };
            let room = sheet.places(page.size).len();
            if room == 0 {
                return Err("a badge is larger than the sheet");
            }
            let of_size = self
                .waiting
                .iter()
                .position(|pages| pages[0].size == page.size);
            let at = of_size.unwrap_or_else(|| {
                self.waiting.push(Vec::new());
                self.waiting.len() - 1
            });
            self.waiting[at].push(page);
            if self.waiting[at].len() == room {
                let full = self.waiting.swap_remove(at);
                fill(&mut self.document, sheet, &full);
            }
        }
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// The cause in words of the library.
    pub fn finish(mut self) -> Result<Vec<u8>, String> {
        if let Some(sheet) = self.sheet {
            for pages in &self.waiting {
                fill(&mut self.document, sheet, pages);
            }
        }
        self.document.finish().map_err(|cause| format!("{cause:?}"))
    }
}

/// Draws a sheet of pages of one size.
fn fill(document: &mut Document, sheet: Sheet, pages: &[Page]) {
    let Some(first) = pages.first() else {
        return;
    };
    on_page(document, (sheet.width, sheet.height), |surface| {
        for (page, (left, top)) in pages.iter().zip(sheet.places(first.size)) {
            surface.push_transform(&Transform::from_translate(points(left), points(top)));
            draw(surface, page);
            cut_marks(surface, page.size);
            surface.pop();
        }
    });
}

fn on_page(
    document: &mut Document,
    (width, height): (f64, f64),
    content: impl FnOnce(&mut Surface<'_>),
) {
    let Some(settings) = PageSettings::from_wh(points(width), points(height)) else {
        return;
    };
    let mut page = document.start_page_with(settings);
    let mut surface = page.surface();
    content(&mut surface);
    surface.finish();
    page.finish();
}

fn draw(surface: &mut Surface<'_>, page: &Page) {
    let (width, height) = page.size;
    if let Some(size) = Size::from_wh(points(width), points(height)) {
        let _ = surface.draw_svg(&page.tree, size, SvgSettings::default());
    }
}

/// Draws short lines at the corners, along the edges.
fn cut_marks(surface: &mut Surface<'_>, (width, height): (f64, f64)) {
    const LENGTH: f64 = 3.0;
    let mut path = PathBuilder::new();
    for (x, inward) in [(0.0, LENGTH), (width, width - LENGTH)] {
        for (y, downward) in [(0.0, LENGTH), (height, height - LENGTH)] {
            path.move_to(points(inward), points(y));
            path.line_to(points(x), points(y));
            path.line_to(points(x), points(downward));
        }
    }
    if let Some(path) = path.finish() {
        surface.set_fill(None);
        surface.set_stroke(Some(Stroke {
            width: 0.4,
            ..Stroke::default()
        }));
        surface.draw_path(&path);
        surface.set_stroke(None);
    }
}
