//! The editor of a region.

use super::{
    HERE, actions,
    form::Form,
    found, layout, page,
    preview::{self, Preview},
};
use crate::{
    admin::{Layout, RequestContext, answer},
    core::template,
    domain::content::{self, Of, Region, edit::Saved},
    types::{
        Timestamp,
        error::{Kind, Result},
    },
};
use askama::Template;
use poem::Response;

/// What was saved while somebody was typing.
struct Meanwhile {
    link: String,
    version: i64,
    /// What is there now, where it differs: of the form's fields, name and value.
    differing: Vec<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "content/edit.html")]
struct Editor {
    layout: Layout,
    form: Form,
    /// The version that the form began with; 0 for a new region.
    seen: i64,
    failure: Option<String>,
    meanwhile: Option<Meanwhile>,
    preview: Option<Preview>,
    back: String,
    filters: Vec<&'static str>,
}

impl Editor {
    fn is_new(&self) -> bool {
        self.seen == 0
    }

    /// What templates at this path see their record as.
    fn record_name(&self) -> &'static str {
        Of::path(&self.form.path).unwrap_or(Of::Delegate).name()
    }

    fn new(request: &RequestContext, form: Form, seen: i64) -> Self {
        let title = if seen == 0 { "New region" } else { &form.path };
        Self {
            layout: layout(request, title),
            back: if seen == 0 {
                HERE.to_owned()
            } else {
                page("region", &form.path)
            },
            form,
            seen,
            failure: None,
            meanwhile: None,
            preview: None,
            filters: template::filters(),
        }
    }
}

pub async fn show(request: RequestContext) -> Result<Response> {
    let path = request.query.text("path");
    if path.is_empty() {
        return answer::page(&Editor::new(&request, Form::new(), 0));
    }
    let region = found(&request, path)?;
    let form = Form::of(&region, &request.console.settings().zone);
    answer::page(&Editor::new(&request, form, region.version))
}

pub async fn save(request: RequestContext) -> Result<Response> {
    let form = Form::sent(&request.form);
    let seen = request.form.number("seen")?.unwrap_or_default();
    let mut editor = Editor::new(&request, form, seen);
    if request.form.text("do") == "preview" {
        return show_preview(&request, editor).await;
    }
    match store(&request, &editor.form, seen).await {
        Ok(Saved::Version(version)) => {
            request.flash(format!("Version {version} saved."));
            Ok(answer::go(&page("region", &editor.form.path)))
        }
        Ok(Saved::Same) => {
            request.flash("Nothing differs from what is there.");
            Ok(answer::go(&page("region", &editor.form.path)))
        }
        Ok(Saved::Meanwhile(_)) => {
            let region = found(&request, &editor.form.path)?;
            editor.meanwhile = Some(meanwhile(&request, &editor.form, &region));
            // Who saves again has been told, and replaces what is there.
            editor.seen = region.version;
            answer::form_again(&editor)
        }
        Err(cause) if matches!(cause.kind, Kind::Invalid | Kind::CodeTaken) => {
            let told = faults(&editor.form).unwrap_or(cause.message);
            editor.failure = Some(answer::sentence(&told));
            answer::form_again(&editor)
        }
        Err(cause) => Err(cause),
    }
}

/// What is wrong with the template, with the line it is in.
fn faults(form: &Form) -> Option<String> {
    let of = Of::path(&form.path).ok()?;
    let fault = of.check(&form.content).err()?;
    Some(preview::told(&form.content, &fault))
}

async fn show_preview(request: &RequestContext, mut editor: Editor) -> Result<Response> {
    let (form, settings) = (editor.form.clone(), request.console.settings());
    let made = request
        .console
        .store
        .read(move |connection| {
            preview::of(
                connection,
                &form.path,
                &form.content,
                &form.record,
                &settings,
            )
        })
        .await;
    editor.preview = Some(match made {
        Ok(preview) => preview,
        Err(cause)
            if matches!(
                cause.kind,
                Kind::Invalid | Kind::UnknownIdType | Kind::DelegateNotFound | Kind::DeviceNotFound
            ) =>
        {
            Preview {
                with: editor.form.record.clone(),
                made: Err(answer::sentence(&cause.message)),
            }
        }
        Err(cause) => return Err(cause),
    });
    answer::page(&editor)
}

async fn store(request: &RequestContext, form: &Form, seen: i64) -> Result<Saved> {
    let ctx = request.context();
    let mut draft = form.draft(&ctx.settings.zone)?;
    if seen == 0 && form.offline {
        draft = actions::offline(draft, Timestamp::now());
    }
    let draft = draft.check()?;
    request
        .console
        .store
        .write(move |tx| {
            if seen > 0 {
                return content::save(tx, &ctx, seen, &draft);
            }
            content::create(tx, &ctx, &draft)?;
            Ok(Saved::Version(1))
        })
        .await
}

fn meanwhile(request: &RequestContext, form: &Form, region: &Region) -> Meanwhile {
    let there = Form::of(region, &request.console.settings().zone);
    let differing = [
        ("Template", &there.content, &form.content),
        ("Tags", &there.tags, &form.tags),
        ("References", &there.references, &form.references),
        ("Published from", &there.from, &form.from),
        ("Published until", &there.to, &form.to),
    ]
    .into_iter()
    .filter(|(_, there, typed)| there.trim() != typed.trim())
    .map(|(name, there, _)| (name, there.clone()))
    .collect();
    Meanwhile {
        link: page("region", &region.now.path),
        version: region.version,
        differing,
    }
}
