//! One gateway: set up, changed, tried, taken away. Its secret goes in and never out; whoever has it
//! go somewhere else has to know it.

use super::{gateways::HERE, layout, tried};
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        form::{mark, told},
        route,
    },
    domain::messages::{
        Channel,
        compose::Composed,
        gateways::{
            self, Definition, Fcm, Gateway, Http, Secret, Security, Smtp,
            http::{PLACES, Success},
            presets::{PRESETS, Preset},
        },
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use std::collections::BTreeMap;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/console/messages/gateways/:channel",
            route::ADMINISTRATOR,
            show,
        ),
        Route::post(
            "/console/messages/gateways/:channel",
            route::ADMINISTRATOR,
            save,
        ),
        Route::post(
            "/console/messages/gateways/:channel/remove",
            route::ADMINISTRATOR,
            remove,
        ),
        Route::post(
            "/console/messages/gateways/:channel/test",
            route::ADMINISTRATOR,
            test,
        ),
    ]
}

/// Kinds of push gateways.
const PUSH_KINDS: [(&str, &str); 2] = [
    ("fcm", "Firebase Cloud Messaging"),
    ("http", "A service of your own (HTTP)"),
];

#[derive(Template)]
#[template(path = "messages/gateway.html")]
struct Page {
    layout: Layout,
    tab: &'static str,
    failure: String,
    channel: Channel,
    /// Whether it is set up.
    is_set: bool,
    has_secret: bool,
    seen: String,
    smtp: Option<Smtp>,
    http: Option<Http>,
    fcm: Option<Fcm>,
    /// The preset that is filled in, or was.
    preset: Option<&'static Preset>,
    /// Where a test goes.
    address: String,
}

#[expect(clippy::unused_self, reason = "templates call it so")]
impl Page {
    fn new(request: &RequestContext, channel: Channel) -> Result<Self> {
        let known = request
            .console
            .store
            .look_up(|connection| gateways::find(connection, channel))?;
        let definition = match asked(request, channel) {
            Some(asked) => asked,
            None => known
                .as_ref()
                .map_or_else(|| fresh(channel), |known| known.definition.clone()),
        };
        Ok(Self::of(request, channel, known.as_ref(), definition))
    }

    fn of(
        request: &RequestContext,
        channel: Channel,
        known: Option<&Gateway>,
        definition: Definition,
    ) -> Self {
        let title = match channel {
            Channel::Email => "Mail server",
            Channel::Sms => "Provider of texts",
            Channel::Push => "Push service",
        };
        let mut page = Self {
            layout: layout(request, title),
            tab: "Gateways",
            failure: String::new(),
            channel,
            is_set: known.is_some(),
            has_secret: known.is_some_and(|known| known.has_secret),
            seen: mark(&known.map(|known| known.definition.to_json())),
            smtp: None,
            http: None,
            fcm: None,
            preset: None,
            address: String::new(),
        };
        match definition {
            Definition::Smtp(smtp) => page.smtp = Some(smtp),
            Definition::Fcm(fcm) => page.fcm = Some(fcm),
            Definition::Http(http) => {
                page.preset = http.preset.as_deref().and_then(Preset::named);
                page.http = Some(http);
            }
        }
        page
    }

    fn presets(&self) -> &'static [Preset] {
        PRESETS
    }

    fn push_kinds(&self) -> [(&'static str, &'static str); 2] {
        PUSH_KINDS
    }

    fn is_kind(&self, kind: &str) -> bool {
        (kind == "fcm") == self.fcm.is_some()
    }

    fn is_preset(&self, name: &str) -> bool {
        self.preset.is_some_and(|preset| preset.name == name)
    }

    fn places(&self) -> [(&'static str, &'static str); 8] {
        PLACES
    }

    fn user_label(&self) -> &'static str {
        match self.preset.map(|preset| preset.user) {
            Some(label) if !label.is_empty() => label,
            _ => "User",
        }
    }

    fn secret_label(&self) -> &'static str {
        match (&self.smtp, &self.fcm, self.preset) {
            (Some(_), _, _) => "Password",
            (_, Some(_), _) => "Service account's key (JSON)",
            (_, _, Some(preset)) => preset.secret,
            _ => "Secret",
        }
    }

    fn headers(&self) -> String {
        let headers = self.http.iter().flat_map(|http| &http.headers);
        let lines: Vec<_> = headers
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        lines.join("\n")
    }

    fn address_label(&self) -> &'static str {
        match self.channel {
            Channel::Email => "To this e-mail address",
            Channel::Sms => "To this phone number",
            Channel::Push => "To this push token",
        }
    }

    fn is_security(&self, name: &str) -> bool {
        let known = self.smtp.as_ref().map(|smtp| smtp.security);
        known == security(name)
    }
}

fn security(name: &str) -> Option<Security> {
    match name {
        "none" => Some(Security::None),
        "starttls" => Some(Security::Starttls),
        "tls" => Some(Security::Tls),
        _ => None,
    }
}

/// What somebody starts with.
fn fresh(channel: Channel) -> Definition {
    match channel {
        Channel::Email => Definition::Smtp(Smtp {
            host: String::new(),
            port: 587,
            security: Security::Starttls,
            user: None,
            from: String::new(),
            reply_to: None,
            certificate: None,
        }),
        Channel::Sms => Definition::Http(PRESETS[0].http()),
        Channel::Push => Definition::Fcm(Fcm::default()),
    }
}

/// What the address asks to be filled in: a preset, or a kind.
fn asked(request: &RequestContext, channel: Channel) -> Option<Definition> {
    let own = || Http {
        preset: None,
        user: None,
        from: None,
        ..http_of_your_own()
    };
    match (channel, request.query.filled("fill")?) {
        (Channel::Sms, "own") => Some(Definition::Http(own())),
        (Channel::Sms, name) => Preset::named(name).map(|preset| Definition::Http(preset.http())),
        (Channel::Push, "http") => Some(Definition::Http(Http {
            body: r#"{"token": "{{ to }}", "title": "{{ title }}", "body": "{{ text }}"}"#.into(),
            ..own()
        })),
        (Channel::Push, "fcm") => Some(Definition::Fcm(Fcm::default())),
        _ => None,
    }
}

fn http_of_your_own() -> Http {
    Http {
        preset: None,
        method: "POST".into(),
        url: "https://".into(),
        headers: BTreeMap::from([("Authorization".to_owned(), "Bearer {{ secret }}".to_owned())]),
        content_type: "application/json".into(),
        body: r#"{"to": "{{ to }}", "text": "{{ text }}"}"#.into(),
        user: None,
        from: None,
        success: None,
    }
}

fn channel(request: &RequestContext) -> Result<Channel> {
    Channel::named(&request.path("channel")?)
        .map_err(|_| Error::new(Kind::NoSuchPath, "there is no such gateway"))
}

async fn show(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    answer::page(&Page::new(&request, channel)?)
}

/// What the form says.
fn typed(form: &Fields, channel: Channel) -> Result<Definition> {
    let text = |name: &str| form.text(name).to_owned();
    let filled = |name: &str| form.filled(name).map(ToOwned::to_owned);
    if channel == Channel::Email {
        let port = form
            .number("port")?
            .and_then(|port| u16::try_from(port).ok());
        return Ok(Definition::Smtp(Smtp {
            host: text("host"),
            port: port.ok_or_else(|| Error::invalid("port: must be from 1 to 65535"))?,
            security: security(form.text("security"))
                .ok_or_else(|| Error::invalid("security: must be none, starttls or tls"))?,
            user: filled("user"),
            from: text("from"),
            reply_to: filled("replyTo"),
            certificate: filled("certificate").map(|pem| pem.trim().replace("\r\n", "\n")),
        }));
    }
    if channel == Channel::Push && form.text("kind") == "fcm" {
        return Ok(Definition::Fcm(Fcm {
            project: filled("project"),
            url: filled("url"),
        }));
    }
    Ok(Definition::Http(Http {
        preset: filled("preset"),
        method: text("method"),
        url: text("url"),
        headers: headers(form.sent("headers").unwrap_or_default())?,
        content_type: text("contentType"),
        body: text("body").replace("\r\n", "\n"),
        user: filled("user"),
        from: filled("from"),
        success: filled("successPath").map(|path| Success {
            path,
            equals: text("successEquals"),
        }),
    }))
}

/// One header a line.
fn headers(text: &str) -> Result<BTreeMap<String, String>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(|| {
                Error::invalid("headers: one a line, such as Authorization: Bearer {{ secret }}")
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

async fn save(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    match store(&request, channel).await {
        Ok(()) => {
            request.flash("The gateway is set. Send a test to see whether it works.");
            Ok(answer::go(&format!("{HERE}/{}", channel.name())))
        }
        Err(cause) => {
            let mut page = Page::new(&request, channel)?;
            if let Ok(definition) = typed(&request.form, channel) {
                let known = request
                    .console
                    .store
                    .look_up(|connection| gateways::find(connection, channel))?;
                page = Page::of(&request, channel, known.as_ref(), definition);
                request.form.text("seen").clone_into(&mut page.seen);
            }
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}

async fn store(request: &RequestContext, channel: Channel) -> Result<()> {
    let definition = typed(&request.form, channel)?;
    definition.check(channel, request.console.outgoing.reach())?;
    let secret = match request.form.filled("secret") {
        Some(secret) => Secret::Set(secret.to_owned()),
        None if request.form.ticked("noSecret") => Secret::Set(String::new()),
        None => Secret::Keep,
    };
    let (ctx, seen) = (request.context(), request.form.text("seen").to_owned());
    request
        .console
        .store
        .write(move |tx| {
            let known = gateways::find(tx, channel)?;
            if mark(&known.as_ref().map(|known| known.definition.to_json())) != seen {
                return Err(Error::invalid(
                    "somebody else changed this gateway meanwhile, and nothing of yours was saved; open it again",
                ));
            }
            let goes_elsewhere = known.is_some_and(|known| {
                known.has_secret && known.definition.destination() != definition.destination()
            });
            if goes_elsewhere && secret == Secret::Keep {
                return Err(Error::invalid(
                    "messages would go somewhere else from now on: type the secret for it, too, as the one that is kept is not given to somebody else",
                ));
            }
            gateways::save(tx, &ctx, channel, Some(&definition), &secret)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let (channel, ctx) = (channel(&request)?, request.context());
    request
        .console
        .store
        .write(move |tx| gateways::save(tx, &ctx, channel, None, &Secret::Keep))
        .await?;
    request.flash("The gateway is gone, and its secret with it.");
    Ok(answer::go(HERE))
}

/// Puts a test into the outbox, which shows what becomes of it.
async fn test(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    let said = request.form.text("address").to_owned();
    match tried::checked(&request, channel, &said) {
        Ok(address) => {
            let name = request.console.settings().name().to_owned();
            let composed = Composed {
                subject: (channel != Channel::Sms).then(|| format!("A test from {name}")),
                body: format!("This is a test from {name}. It works."),
                html: None,
            };
            let id = tried::put(&request, channel, address, composed).await?;
            Ok(answer::go(&format!("/console/messages/{id}")))
        }
        Err(cause) => {
            let mut page = Page::new(&request, channel)?;
            page.address = said;
            page.failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}
