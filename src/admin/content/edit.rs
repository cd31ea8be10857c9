//! The editor of a region.

use super::{
    HERE, actions,
    form::Form,
    found, page,
    preview::{self, Preview},
    shell,
};
use crate::{
    admin::{Shell, Visit, answer},
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
    shell: Shell,
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

    fn new(visit: &Visit, form: Form, seen: i64) -> Self {
        let title = if seen == 0 { "New region" } else { &form.path };
        Self {
            shell: shell(visit, title),
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

pub async fn show(visit: Visit) -> Result<Response> {
    let path = visit.query.text("path");
    if path.is_empty() {
        return answer::page(&Editor::new(&visit, Form::new(), 0));
    }
    let region = found(&visit, path)?;
    let form = Form::of(&region, &visit.console.settings().zone);
    answer::page(&Editor::new(&visit, form, region.version))
}

pub async fn save(visit: Visit) -> Result<Response> {
    let form = Form::sent(&visit.form);
    let seen = visit.form.number("seen")?.unwrap_or_default();
    let mut editor = Editor::new(&visit, form, seen);
    if visit.form.text("do") == "preview" {
        return show_preview(&visit, editor).await;
    }
    match store(&visit, &editor.form, seen).await {
        Ok(Saved::Version(version)) => {
            visit.flash(format!("Version {version} is saved."));
            Ok(answer::go(&page("region", &editor.form.path)))
        }
        Ok(Saved::Same) => {
            visit.flash("Nothing differs from what is there.");
            Ok(answer::go(&page("region", &editor.form.path)))
        }
        Ok(Saved::Meanwhile(_)) => {
            let region = found(&visit, &editor.form.path)?;
            editor.meanwhile = Some(meanwhile(&visit, &editor.form, &region));
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

async fn show_preview(visit: &Visit, mut editor: Editor) -> Result<Response> {
    let (form, settings) = (editor.form.clone(), visit.console.settings());
    let made = visit
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

async fn store(visit: &Visit, form: &Form, seen: i64) -> Result<Saved> {
    let ctx = visit.context();
    let mut draft = form.draft(&ctx.settings.zone)?;
    if seen == 0 && form.offline {
        draft = actions::offline(draft, Timestamp::now());
    }
    let draft = draft.check()?;
    visit
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

fn meanwhile(visit: &Visit, form: &Form, region: &Region) -> Meanwhile {
    let there = Form::of(region, &visit.console.settings().zone);
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
