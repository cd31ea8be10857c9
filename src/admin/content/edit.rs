//! The editor of a region.

use super::{
    HERE, actions, found, layout, page,
    preview::{self, Preview},
};
use crate::{
    admin::{
        Fields, Layout, RequestContext, answer,
        engine::{Form, Group, Input},
        form::is_theirs,
    },
    core::{audit, template},
    domain::content::{self, Draft, Of, Region, Version, edit::Saved},
    types::{
        Timestamp, Zone,
        error::{Error, Result},
    },
};
use askama::Template;
use poem::Response;

#[derive(Template)]
#[template(path = "content/edit.html")]
struct Editor {
    layout: Layout,
    form: Form,
    preview: Option<Preview>,
    filters: Vec<&'static str>,
}

impl Editor {
    fn new(request: &RequestContext, region: Option<&Region>) -> Self {
        let example = example();
        let draft = region.map_or(&example, |region| &region.now);
        let title = region.map_or("New region", |region| &region.now.path);
        Self {
            layout: layout(request, title),
            form: Form {
                action: "/console/content/edit".to_owned(),
                cancel: region.map_or(HERE.to_owned(), |region| page("region", &region.now.path)),
                version: region.map_or(0, |region| region.version).to_string(),
                groups: groups(draft, region.is_none(), &request.console.settings().zone),
                ..Form::default()
            },
            preview: None,
            filters: template::filters(),
        }
    }

    /// The editor of what was sent, with what was typed.
    fn again(request: &RequestContext) -> Result<Self> {
        let region = match request.form.number("version")? {
            None | Some(0) => None,
            Some(_) => Some(found(request, request.form.text("path"))?),
        };
        let mut editor = Self::new(request, region.as_ref());
        editor.form.refill(&request.form);
        Ok(editor)
    }
}

/// A region to begin with.
fn example() -> Draft {
    Draft {
        path: "/api/delegate-info".to_owned(),
        content:
            "<h1>Hello {{ delegate.firstName }}</h1>\n<p>Welcome to {{ settings.name }}.</p>\n"
                .to_owned(),
        ..Draft::default()
    }
}

fn groups(draft: &Draft, is_new: bool, zone: &Zone) -> Vec<Group> {
    let time = |at: Option<Timestamp>| {
        let local = at.map(|at| zone.plain(at).replace(' ', "T"));
        local.unwrap_or_default()
    };
    let path = Input::text("path", "Path", &draft.path)
        .wide()
        .required()
        .max(200);
    let path = if is_new {
        path.help(
            "/api/delegate-info for an attendee, /api/device-info for a device, or more after one of \
             them, such as /api/delegate-info/schedule.",
        )
    } else {
        path.attribute("readonly", "")
            .help("Apps ask for it by this; it stays.")
    };
    let mut inputs = vec![
        path,
        Input::area("content", "Template", 18, &draft.content)
            .wide()
            .code()
            .help("HTML with Jinja. Every value is escaped; nothing reads a file or another template."),
        Input::text("tags", "Tags", &draft.tags.join(", "))
            .help("Separated by commas; apps are given them."),
        Input::area("references", "References", 2, &draft.references.join("\n")).help(
            "One a line, such as an address or the code of a session; apps are given them.",
        ),
        Input::line("datetime-local", "from", "Published from", &time(draft.published_from))
            .attribute("step", "1")
            .help("Empty: at once."),
        Input::line("datetime-local", "to", "Published until", &time(draft.published_to))
            .attribute("step", "1")
            .help("Empty: without an end. In the time zone of this instance."),
    ];
    if is_new {
        inputs.push(Input::flag("offline", "Keep it offline for now", true));
    }
    let record = Input::text("record", "With", "").wide().help(
        "A name, a code, or a selector such as barcode:TLH26-0001. Empty: the newest. A preview saves \
         nothing.",
    );
    vec![
        Group::new("The region", inputs),
        Group::new("Preview", vec![record]),
    ]
}

/// What was typed.
fn typed(form: &Fields, zone: &Zone) -> Result<Draft> {
    let time = |name: &str| -> Result<Option<Timestamp>> {
        let text = form.filled(name);
        text.map(|text| zone.read(name, &text.into())).transpose()
    };
    let words = |name: &str, separator: char| -> Vec<String> {
        let words = form.text(name).split(separator).map(str::trim);
        let filled = words.filter(|word| !word.is_empty());
        filled.map(ToOwned::to_owned).collect()
    };
    Ok(Draft {
        path: form.text("path").to_owned(),
        // Browsers send line ends as they have them on paper.
        content: form
            .sent("content")
            .unwrap_or_default()
            .replace("\r\n", "\n"),
        tags: words("tags", ','),
        references: words("references", '\n'),
        published_from: time("from")?,
        published_to: time("to")?,
    })
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let path = request.query.text("path");
    let region = match path {
        "" => None,
        _ => Some(found(&request, path)?),
    };
    answer::page(&Editor::new(&request, region.as_ref()))
}

pub async fn save(request: RequestContext) -> Result<Response> {
    if request.form.text("do") == "preview" {
        return show_preview(&request).await;
    }
    let path = request.form.text("path");
    let cause = match store(&request).await {
        Ok(Saved::Version(version)) => {
            return request.done(format!("Version {version} saved."), &page("region", path));
        }
        Ok(Saved::Same) => {
            return request.done("Nothing differs from what is there.", &page("region", path));
        }
        Ok(Saved::Meanwhile(_)) => None,
        Err(cause) if is_theirs(&cause) => Some(cause),
        Err(cause) => return Err(cause),
    };
    let mut editor = Editor::again(&request)?;
    if let Some(cause) = cause {
        let fault = faults(path, request.form.sent("content").unwrap_or_default());
        let fault = fault.map(|told| Error::invalid(format!("content: {told}")));
        editor.form.reject(&request.form, &fault.unwrap_or(cause));
    } else {
        let region = found(&request, path)?;
        let who = request.look_up(|connection| {
            let newest = Version::find(connection, path, region.version)?;
            let actor = newest.map(|version| version.actor).unwrap_or_default();
            audit::actor_name(connection, &actor)
        })?;
        let now = Editor::new(&request, Some(&region)).form;
        editor.form.warn(&request.form, &who, now);
    }
    answer::form_again(&editor)
}

/// What is wrong with the template, with the line it is in.
fn faults(path: &str, content: &str) -> Option<String> {
    let fault = Of::path(path).ok()?.check(content).err()?;
    Some(preview::told(content, &fault))
}

async fn show_preview(request: &RequestContext) -> Result<Response> {
    let mut editor = Editor::again(request)?;
    let settings = request.console.settings();
    let text = |name: &str| {
        request
            .form
            .sent(name)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let (path, content, record) = (text("path"), text("content"), text("record"));
    let with = record.clone();
    let made = request
        .read(move |connection| preview::of(connection, &path, &content, &record, &settings))
        .await;
    editor.preview = Some(match made {
        Ok(preview) => preview,
        Err(cause) if is_theirs(&cause) => Preview {
            with,
            made: Err(answer::sentence(&cause.message)),
        },
        Err(cause) => return Err(cause),
    });
    answer::page(&editor)
}

async fn store(request: &RequestContext) -> Result<Saved> {
    let mut draft = typed(&request.form, &request.console.settings().zone)?;
    let begun_on = request.form.number("version")?.unwrap_or_default();
    if begun_on == 0 && request.form.ticked("offline") {
        draft = actions::offline(draft, Timestamp::now());
    }
    let draft = draft.check()?;
    request
        .write(move |tx, ctx| {
            if begun_on > 0 {
                return content::save(tx, ctx, begun_on, &draft);
            }
            content::create(tx, ctx, &draft)?;
            Ok(Saved::Version(1))
        })
        .await
}
