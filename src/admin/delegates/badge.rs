//! Codes as QR, to print, and blocked when a badge is lost.

use super::{label, name_of, record::properties, text};
use crate::admin::prelude::*;
use crate::{
    domain::{
        badges,
        delegates::blocked::{self, REASONS},
    },
    types::{DelegateCode, DelegateId},
};

struct Code {
    id: i64,
    name: String,
    company: String,
    kind: DelegateCode,
    value: String,
}

impl Code {
    fn label(&self) -> &str {
        label(self.kind.name())
    }
}

/// The code that the path names.
fn code(request: &RequestContext) -> Result<Code> {
    let id = request.id("id")?;
    let kind = blocked::code_named(&request.path("kind")?)
        .ok_or_else(|| Error::new(Kind::NoSuchPath, "there is no such code"))?;
    let zone = request.console.settings().zone.clone();
    request.look_up(|connection| {
        let found = properties(connection, id, &zone)?;
        let value = text(&found, kind.name());
        if value.is_empty() {
            return Err(Error::new(
                Kind::NoSuchPath,
                format!("this attendee has no {}", label(kind.name())),
            ));
        }
        Ok(Code {
            id,
            name: name_of(connection, id)?.unwrap_or_default(),
            company: text(&found, "company").to_owned(),
            kind,
            value: value.to_owned(),
        })
    })
}

pub(super) async fn picture(request: RequestContext) -> Result<Response> {
    answer::qr(&code(&request)?.value)
}

#[derive(Template)]
#[template(path = "delegates/code.html")]
struct Print {
    layout: Layout,
    code: Code,
}

pub(super) async fn print(request: RequestContext) -> Result<Response> {
    let code = code(&request)?;
    let title = tx("delegates-code-of-name").with("code", say(code.label()));
    let title = title.with("name", &code.name).to_string();
    answer::page(&Print {
        layout: request.layout(&title, Some(Area::Delegates)),
        code,
    })
}

/// The badge as the layouts of badges have it.
pub(super) async fn pdf(request: RequestContext) -> Result<Response> {
    let id = DelegateId(request.id("id")?);
    let settings = request.console.settings();
    let draw = move |connection: &Connection| {
        let press = badges::Press::load(connection, &settings)?;
        let record = badges::Records::of(connection, &settings, None)?.get(id)?;
        badges::pdf([press.draw(&record)], None)
    };
    Ok(answer::pdf(request.read(draw).await?, "badge.pdf"))
}

fn form(code: &Code) -> Form {
    let help = tx("delegates-the-code-will-not-open-any-gate").with("code", say(code.label()));
    let help = help.with("value", &code.value).with("name", &code.name);
    let mut help = help.to_string();
    if code.kind == DelegateCode::PublicId {
        help.push(' ');
        help += &t("delegates-a-new-public-id-is-generated");
    }
    let reasons = REASONS.iter().map(|reason| (*reason, *reason));
    let reasons = choices(reasons, REASONS.first().unwrap_or(&""));
    let inputs = vec![
        Input::hidden("value", &code.value).secret(),
        Input::radios("reason", "This badge was", reasons),
        Input::text("other", "Other reason").value("").max(200),
        Input::text("new", "New code")
            .value("")
            .max(255)
            .placeholder("Scan the new badge")
            .attribute("autofocus", ""),
    ];
    Form {
        action: format!("/console/delegates/{}/badge/{}", code.id, code.kind.name()),
        cancel: format!("/console/delegates/{}", code.id),
        submit: "Block".to_owned(),
        groups: vec![Group::new("", inputs).help(help)],
        ..Form::default()
    }
}

pub(super) async fn ask(request: RequestContext) -> Result<Response> {
    let form = form(&code(&request)?);
    engine::form_page(&request, "Block a lost badge", Area::Delegates, form)
}

pub(super) async fn block(request: RequestContext) -> Result<Response> {
    let code = code(&request)?;
    let (id, kind) = (code.id, code.kind);
    let reason = request.form.filled("other");
    let reason = reason.unwrap_or(request.form.text("reason")).to_owned();
    let new = request.form.filled("new").map(ToOwned::to_owned);
    let replaced = new.is_some();
    let blocked = if request.form.text("value") == code.value {
        request
            .write(move |tx, ctx| {
                blocked::block(tx, ctx, DelegateId(id), kind, &reason, new.as_deref())
            })
            .await
    } else {
        Err(Error::invalid(format!(
            "somebody gave this person the code {} meanwhile, so nothing is blocked; check whether that is the one that was lost",
            code.value
        )))
    };
    match blocked {
        Ok(value) if replaced => request.done(
            format!("{value} is blocked. The new code is valid from now on."),
            &format!("/console/delegates/{id}"),
        ),
        Ok(value) => request.done(
            format!("{value} is blocked. Give this person another code before they come back."),
            &format!("/console/delegates/{id}"),
        ),
        Err(mut cause) if is_theirs(&cause) => {
            let mut form = form(&code);
            // What is wrong with the code is wrong with the new one.
            if let Some(field) = cause
                .field
                .first_mut()
                .filter(|field| *field == kind.name())
            {
                "new".clone_into(field);
            }
            form.reject(&request.form, &cause);
            engine::form_page(&request, "Block a lost badge", Area::Delegates, form)
        }
        Err(cause) => Err(cause),
    }
}

pub(super) fn unblock(tx: &Tx<'_>, ctx: &Context, action: &Action) -> Result<Done> {
    let form = &action.form;
    let (kind, value) = (form.text("kind"), form.sent("value").unwrap_or_default());
    let back = form.ticked("back");
    blocked::unblock(tx, ctx, kind, value, back)?;
    let done = if back { "is valid again" } else { "unblocked" };
    Ok(Done::new(
        format!("{value} {done}."),
        super::path(action.id),
    ))
}
