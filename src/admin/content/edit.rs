//! The form of a region, with a preview for a record.

use super::{HERE, find, offline, page};
use crate::admin::prelude::*;
use crate::{
    core::{audit, settings, template},
    domain::content::{
        self, Checked, Version,
        preview::{self, Preview},
    },
};

pub(super) struct Regions;

/// A region's path, as the address has it.
#[derive(Clone)]
pub(super) struct Path(String);

impl Key for Path {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        let path = request.query.filled("path");
        Ok(path.map(|path| Self(path.to_owned())))
    }
}

/// A region as its form has it.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub(super) struct Draft {
    path: String,
    content: String,
    tags: Vec<String>,
    references: Vec<String>,
    from: Option<String>,
    to: Option<String>,
    #[serde(skip)]
    checked: Option<Checked>,
}

impl Draft {
    fn checked(&self) -> Result<&Checked> {
        let checked = self.checked.as_ref();
        checked.ok_or_else(|| Error::defect("a region is checked before it is saved"))
    }
}

#[derive(Template)]
#[template(path = "content/edit.html")]
struct Aside {
    filters: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "content/preview.html")]
struct Shown {
    preview: Preview,
}

impl Editor for Regions {
    type Key = Path;
    type Draft = Draft;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "region";
    const AREA: Area = Area::Content;

    fn blank(_: &RequestContext) -> Draft {
        let content =
            "<h1>Hello {{ delegate.firstName }}</h1>\n<p>Welcome to {{ settings.name }}.</p>\n";
        Draft {
            path: "/api/delegate-info".to_owned(),
            content: content.to_owned(),
            ..Draft::default()
        }
    }

    fn find(connection: &Connection, path: &Path) -> Result<Draft> {
        let region = find(connection, &path.0)?;
        let zone = settings::load(connection)?.zone;
        let time = |at: Option<Timestamp>| at.map(|at| zone.plain(at).replace(' ', "T"));
        Ok(Draft {
            from: time(region.now.published_from),
            to: time(region.now.published_to),
            path: region.now.path,
            content: region.now.content,
            tags: region.now.tags,
            references: region.now.references,
            checked: None,
        })
    }

    fn name(draft: &Draft) -> String {
        draft.path.clone()
    }

    fn groups(_: &Connection, key: Option<&Path>, draft: &Draft) -> Groups {
        let path = Input::text("path", "Path").wide().required().max(200);
        let path = if key.is_none() {
            path.help(
                "/api/delegate-info for an attendee, /api/device-info for a device, or more after one \
                 of them, such as /api/delegate-info/schedule.",
            )
        } else {
            path.attribute("readonly", "")
                .help("Apps ask for it by this path. It cannot change.")
        };
        let time = |name, label| Input::line("datetime-local", name, label).attribute("step", "1");
        let mut inputs = vec![
            path,
            Input::area("content", "Template", 18).wide().code().help(
                "HTML with Jinja. Every value is escaped; nothing reads a file or another template.",
            ),
            Input::words("tags", "Tags").help("Separated by commas. Apps get them."),
            Input::lines("references", "References", 2)
                .help("One a line, such as an address or the code of a session. Apps get them."),
            time("from", "Published from").help("Empty: at once."),
            time("to", "Published until")
                .help("Empty: without an end. In the time zone of this instance."),
        ];
        if key.is_none() {
            inputs.push(
                Input::flag("offline", "Keep it offline for now")
                    .value("1")
                    .apart(),
            );
        }
        let record = Input::text("record", "Record").wide().apart().help(
            "A name, a code, or a selector such as barcode:TLH26-0001. Empty: the newest. A preview \
             saves nothing.",
        );
        let groups = vec![
            Group::new("Region", inputs),
            Group::new("Preview", vec![record]),
        ];
        engine::filled(groups, draft)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        engine::typed(groups, sent)
    }

    async fn prepare(at: At<'_, Self>, draft: Draft) -> Result<Draft> {
        let zone = &at.request.console.settings().zone;
        let time = |name: &str, text: &Option<String>| -> Result<Option<Timestamp>> {
            let text = text.clone().map(Into::into);
            text.map(|text| zone.read(name, &text)).transpose()
        };
        let mut region = content::Draft {
            path: draft.path.clone(),
            content: draft.content.clone(),
            tags: draft.tags.clone(),
            references: draft.references.clone(),
            published_from: time("from", &draft.from)?,
            published_to: time("to", &draft.to)?,
        };
        if at.key.is_none() && at.request.form.ticked("offline") {
            region = offline(region, Timestamp::now());
        }
        if let Some(fault) = preview::fault(&draft.path, &draft.content) {
            return Err(Error::field("content", fault));
        }
        let checked = Some(region.check()?);
        Ok(Draft { checked, ..draft })
    }

    fn create(tx: &Tx<'_>, ctx: &Context, draft: &Draft) -> Result<()> {
        content::create(tx, ctx, draft.checked()?)
    }

    fn update(tx: &Tx<'_>, ctx: &Context, path: &Path, draft: &Draft) -> Result<()> {
        let region = find(tx, &path.0)?;
        content::save(tx, ctx, region.version, draft.checked()?).map(drop)
    }

    fn created(request: &RequestContext, draft: Draft, (): ()) -> Result<Response> {
        request.done(
            format!("{} created.", draft.path),
            &page("region", &draft.path),
        )
    }

    fn page(path: &Path) -> String {
        page("region", &path.0)
    }

    fn last_actor(connection: &Connection, path: &Path) -> Result<String> {
        let newest = Version::all(connection, &path.0)?.into_iter().next();
        audit::actor_name(
            connection,
            &newest.map(|version| version.actor).unwrap_or_default(),
        )
    }

    fn buttons(_: Option<&Path>, _: &Draft) -> Vec<Button> {
        vec![Button::new("preview", "Preview").shows()]
    }

    async fn press(at: At<'_, Self>, draft: Draft, _: &str) -> Result<Outcome> {
        let settings = at.request.console.settings();
        let record = at.request.form.text("record").to_owned();
        let render = move |connection: &Connection| {
            preview::preview(connection, &draft.path, &draft.content, &record, &settings)
        };
        let preview = at.request.read(render).await?;
        Outcome::shown(&Shown { preview })
    }

    async fn aside(_: At<'_, Self>) -> Result<String> {
        let filters = template::filters();
        answer::part(&Aside { filters })
    }
}
