//! `/badge/...` (contract §15).

use super::{Press, Records, pdf, zpl};
use crate::{
    domain::delegates,
    identity::{App, Granted, roles::ReadDelegates},
    types::{
        DelegateSelector,
        error::{Error, Result},
    },
    web::{
        Outcome, Query,
        schema::{inline, response, text},
    },
};
use poem::{Body, IntoResponse, Response};
use poem_openapi::{
    ApiResponse, OpenApi,
    param::Path,
    registry::{MetaMediaType, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};
use rusqlite::Connection;

/// Dots an inch of the label printers that are usual at events.
const DOTS: [u32; 4] = [152, 203, 300, 600];

/// A badge, in the format that was asked for.
pub struct Drawn {
    content_type: &'static str,
    bytes: Vec<u8>,
}

impl IntoResponse for Drawn {
    fn into_response(self) -> Response {
        Response::builder()
            .content_type(self.content_type)
            .body(Body::from_bytes(self.bytes.into()))
    }
}

impl ApiResponse for Drawn {
    fn meta() -> MetaResponses {
        let pdf = drawing("A page for each side.", "%PDF-1.7 …");
        let mut drawn = response(200, "The badge", "application/pdf", pdf);
        for (content_type, about, example) in [
            (
                "image/svg+xml",
                "The front, letters as shapes.",
                "<svg width=\"105mm\" height=\"148mm\">…</svg>",
            ),
            (
                "application/zpl",
                "The front for a Zebra printer (ZPL II), as dots.",
                "^XA^PW839^LL1183^FO0,0^GFA,…^FS^XZ",
            ),
        ] {
            drawn.content.push(MetaMediaType {
                content_type,
                schema: drawing(about, example),
            });
        }
        MetaResponses {
            responses: vec![drawn],
        }
    }

    fn register(_: &mut Registry) {}
}

fn drawing(about: &'static str, example: &str) -> MetaSchemaRef {
    inline(MetaSchema {
        example: Some(example.into()),
        ..text(about)
    })
}

pub struct BadgesApi {
    pub app: App,
}

#[OpenApi(tag = "crate::web::Tag::Delegates")]
impl BadgesApi {
    /// Draw a badge
    ///
    /// By the layout of the attendee's type, set up in the console. A property that the client may not see is left
    /// out. Printing it is up to the client; nothing is recorded. Needs `ROLE_OAUTH2_DELEGATE_READ`.
    #[oai(path = "/badge/:selector", method = "get", operation_id = "getBadge")]
    async fn badge(
        &self,
        caller: Granted<ReadDelegates>,
        selector: Path<String>,
        /// `pdf` (without it), `svg` or `zpl`.
        format: Query<Option<String>>,
        /// Dots an inch of the printer, for `zpl`: 152, 203 (without it), 300 or 600.
        dpi: Query<Option<u32>>,
    ) -> Outcome<Drawn> {
        let selector = DelegateSelector::parse(&selector.0)?;
        let format = Format::parse(format.0.as_deref(), dpi.0)?;
        let visible = caller.visible_properties.as_deref();
        let settings = self.app.settings();
        let (press, record) = self.app.store.look_up(|connection: &Connection| {
            let id = delegates::find(connection, &selector)?;
            let record = Records::of(connection, &settings, visible)?.get(id)?;
            Ok((Press::load(connection, &settings)?, record))
        })?;
        let drawn = tokio::task::spawn_blocking(move || format.draw(&press, &record)).await;
        Ok(drawn.map_err(Error::defect)??)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Pdf,
    Svg,
    /// Dots an inch.
    Zpl(u32),
}

impl Format {
    fn parse(name: Option<&str>, dots: Option<u32>) -> Result<Self> {
        if dots.is_some_and(|dots| !DOTS.contains(&dots)) {
            return Err(Error::field("dpi", "must be 152, 203, 300 or 600"));
        }
        match name {
            None | Some("pdf") => Ok(Self::Pdf),
            Some("svg") => Ok(Self::Svg),
            Some("zpl") => Ok(Self::Zpl(dots.unwrap_or(203))),
            Some(_) => Err(Error::field("format", "must be pdf, svg or zpl")),
        }
    }

    fn draw(self, press: &Press, record: &serde_json::Value) -> Result<Drawn> {
        let badge = press.draw(record)?;
        let front = || {
            let front = badge.pages.first();
            front.ok_or_else(|| Error::invalid("this layout draws nothing"))
        };
        let (content_type, bytes) = match self {
            Self::Svg => ("image/svg+xml", front()?.svg().into_bytes()),
            Self::Zpl(dots) => {
                let dots = front()?.dots(dots);
                let dots =
                    dots.ok_or_else(|| Error::invalid("this badge has more than 9,000,000 dots"))?;
                ("application/zpl", zpl(&dots).into_bytes())
            }
            Self::Pdf => ("application/pdf", pdf([Ok(badge)], None)?),
        };
        Ok(Drawn {
            content_type,
            bytes,
        })
    }
}
