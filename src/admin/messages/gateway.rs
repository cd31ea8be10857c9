//! One gateway: set up, changed, tried, taken away. Its secret goes in and never out; whoever has it
//! go somewhere else has to know it.

use super::{gateways::HERE, layout, tried};
use crate::{
    admin::{
        Fields, Layout, RequestContext, Route, answer,
        engine::{Choice, Form, Group, Input},
        form::{is_theirs, mark, told},
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

#[derive(Template)]
#[template(path = "messages/gateway.html")]
struct Page {
    layout: Layout,
    tab: &'static str,
    channel: Channel,
    /// Providers or services to choose from: label, address, and whether it is this one.
    kinds: Vec<(&'static str, String, bool)>,
    form: Form,
    /// Why no test was sent.
    test_failure: String,
    /// Whether it is set up.
    is_set: bool,
    has_places: bool,
    /// Where a test goes.
    address: String,
}

impl Page {
    fn new(request: &RequestContext, channel: Channel) -> Result<Self> {
        let known = request.look_up(|connection| gateways::find(connection, channel))?;
        let definition = match asked(request, channel) {
            Some(asked) => asked,
            None => known
                .as_ref()
                .map_or_else(|| fresh(channel), |known| known.definition.clone()),
        };
        let title = match channel {
            Channel::Email => "Mail server",
            Channel::Sms => "Provider of texts",
            Channel::Push => "Push service",
        };
        let has_secret = known.as_ref().is_some_and(|known| known.has_secret);
        Ok(Self {
            layout: layout(request, title),
            tab: "Gateways",
            channel,
            kinds: kinds(channel, &definition),
            form: Form {
                action: request.target(),
                version: version(known.as_ref()),
                groups: vec![Group::new(
                    "Connection",
                    inputs(channel, &definition, has_secret),
                )],
                ..Form::default()
            },
            test_failure: String::new(),
            is_set: known.is_some(),
            has_places: matches!(definition, Definition::Http(_)),
            address: String::new(),
        })
    }

    fn places(&self) -> &'static [(&'static str, &'static str)] {
        if self.has_places { &PLACES } else { &[] }
    }

    fn address_label(&self) -> &'static str {
        match self.channel {
            Channel::Email => "To this e-mail address",
            Channel::Sms => "To this phone number",
            Channel::Push => "To this push token",
        }
    }
}

fn version(known: Option<&Gateway>) -> String {
    mark(&known.map(|known| known.definition.to_json()))
}

/// What can be chosen in place of a definition.
fn kinds(channel: Channel, definition: &Definition) -> Vec<(&'static str, String, bool)> {
    let link = |fill: &str| format!("{HERE}/{}?fill={fill}", channel.name());
    match (channel, definition) {
        (Channel::Sms, Definition::Http(http)) => {
            let preset = http.preset.as_deref().and_then(Preset::named);
            let is_preset = |name: &str| preset.is_some_and(|preset| preset.name == name);
            let presets = PRESETS.iter();
            let presets =
                presets.map(|known| (known.label, link(known.name), is_preset(known.name)));
            let own = ("Another one", link("own"), preset.is_none());
            presets.chain([own]).collect()
        }
        (Channel::Push, definition) => {
            let is_fcm = matches!(definition, Definition::Fcm(_));
            let own = "A service of your own (HTTP)";
            vec![
                ("Firebase Cloud Messaging", link("fcm"), is_fcm),
                (own, link("http"), !is_fcm),
            ]
        }
        _ => Vec::new(),
    }
}

fn secret(label: &'static str, has_secret: bool) -> Input {
    let input = Input::line("password", "secret", label, "");
    let input = input.help("Kept in the database file, shown to nobody, and never exported.");
    if has_secret {
        input.placeholder("kept; type a new one to change it")
    } else {
        input
    }
}

fn inputs(channel: Channel, definition: &Definition, has_secret: bool) -> Vec<Input> {
    let mut inputs = match definition {
        Definition::Smtp(smtp) => smtp_inputs(smtp, has_secret),
        Definition::Fcm(fcm) => fcm_inputs(fcm, has_secret),
        Definition::Http(http) => http_inputs(channel, http, has_secret),
    };
    if has_secret {
        inputs.push(Input::flag("noSecret", "Forget the secret that is kept", false).wide());
    }
    inputs
}

fn smtp_inputs(smtp: &Smtp, has_secret: bool) -> Vec<Input> {
    let security = [
        ("starttls", "begins TLS by STARTTLS (mostly port 587)"),
        ("tls", "is TLS from the start (mostly port 465)"),
        ("none", "is not protected"),
    ];
    let security = security
        .map(|(name, label)| Choice::new(name, label, security_named(name) == Some(smtp.security)));
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    vec![
        Input::text("host", "Mail server", &smtp.host).placeholder("mail.example.org"),
        Input::line("number", "port", "Port", &smtp.port.to_string())
            .attribute("min", "1")
            .attribute("max", "65535"),
        Input::select("security", "The connection", security.to_vec())
            .wide()
            .help("Without TLS, password and e-mails cross the network as they are."),
        Input::text("from", "Sender", &smtp.from).placeholder("Summit <summit@example.org>"),
        Input::text("replyTo", "Answers go to", &text(&smtp.reply_to)).placeholder("the sender"),
        Input::text("user", "User", &text(&smtp.user)).placeholder("none"),
        secret("Password", has_secret),
        Input::area(
            "certificate",
            "Trusted certificate (PEM)",
            4,
            &text(&smtp.certificate),
        )
        .wide()
        .code()
        .placeholder("-----BEGIN CERTIFICATE-----")
        .help(
            "Only if the mail server's certificate is signed by an authority of your own, or by \
                 itself. It is trusted then, and nothing else.",
        ),
    ]
}

fn fcm_inputs(fcm: &Fcm, has_secret: bool) -> Vec<Input> {
    let key = Input::area("secret", "Service account's key (JSON)", 6, "")
        .wide()
        .code()
        .secret()
        .help(
            "From the Firebase console: Project settings, Service accounts, Generate new private key. \
             The whole file's text. Kept in the database file, shown to nobody, and never exported.",
        );
    let key = if has_secret {
        key.placeholder("kept; paste a new one to change it")
    } else {
        key
    };
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    vec![
        Input::hidden("kind", "fcm"),
        key,
        Input::text("project", "Project", &text(&fcm.project))
            .placeholder("that of the service account"),
        Input::text("url", "Address", &text(&fcm.url)).placeholder("https://fcm.googleapis.com"),
    ]
}

fn http_inputs(channel: Channel, http: &Http, has_secret: bool) -> Vec<Input> {
    const TYPES: [&str; 3] = [
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain; charset=utf-8",
    ];
    let preset = http.preset.as_deref().and_then(Preset::named);
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let user = preset.map_or("", |preset| preset.user);
    let methods = ["POST", "PUT", "GET"].map(|name| Choice::new(name, name, name == http.method));
    let headers = http.headers.iter();
    let headers: Vec<String> = headers
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let success = http.success.as_ref();
    let mut inputs = vec![
        Input::hidden("kind", "http"),
        Input::hidden("preset", http.preset.as_deref().unwrap_or_default()),
    ];
    if channel == Channel::Sms {
        let from = Input::text("from", "Sender", &text(&http.from));
        inputs.push(
            from.placeholder("+4940123456, or Summit")
                .help("A number of yours, or a name, as the provider allows."),
        );
    }
    inputs.extend([
        Input::text(
            "user",
            if user.is_empty() { "User" } else { user },
            &text(&http.user),
        )
        .placeholder("none"),
        secret(preset.map_or("Secret", |preset| preset.secret), has_secret),
        Input::select("method", "Method", methods.to_vec()),
        Input::text("contentType", "Type of the body", &http.content_type).offered(TYPES),
        Input::text("url", "Address", &http.url).wide(),
        Input::area("headers", "Headers, one a line", 3, &headers.join("\n"))
            .wide()
            .code(),
        Input::area("body", "Body", 5, &http.body).wide().code(),
        Input::text(
            "successPath",
            "It worked if the answer says, at",
            success.map_or("", |success| &success.path),
        )
        .placeholder("any answer 2xx")
        .help("Such as messages.0.status, in a JSON answer."),
        Input::text(
            "successEquals",
            "this",
            success.map_or("", |success| &success.equals),
        ),
    ]);
    inputs
}

fn security_named(name: &str) -> Option<Security> {
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
            security: security_named(form.text("security"))
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
        Ok(()) => request.done(
            "The gateway is set. Send a test to see whether it works.",
            &format!("{HERE}/{}", channel.name()),
        ),
        Err(cause) if is_theirs(&cause) => {
            let mut page = Page::new(&request, channel)?;
            if let Ok(definition) = typed(&request.form, channel) {
                let has_secret = request.look_up(|connection| {
                    Ok(gateways::find(connection, channel)?.is_some_and(|known| known.has_secret))
                })?;
                page.kinds = kinds(channel, &definition);
                let inputs = inputs(channel, &definition, has_secret);
                page.form.groups = vec![Group::new("Connection", inputs)];
            }
            page.form.reject(&request.form, &cause);
            answer::form_again(&page)
        }
        Err(cause) => Err(cause),
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
    let begun_on = request.form.text("version").to_owned();
    request
        .write(move |tx, ctx| {
            let known = gateways::find(tx, channel)?;
            if version(known.as_ref()) != begun_on {
                return Err(Error::invalid(
                    "somebody else changed this gateway meanwhile. Nothing of yours is saved; open it again",
                ));
            }
            let goes_elsewhere = known.is_some_and(|known| {
                known.has_secret && known.definition.destination() != definition.destination()
            });
            if goes_elsewhere && secret == Secret::Keep {
                return Err(Error::invalid(
                    "secret: messages would go somewhere else from now on, and the secret that is kept is \
                     not given to somebody else: type the secret for the new place",
                ));
            }
            gateways::save(tx, ctx, channel, Some(&definition), &secret)
        })
        .await
}

async fn remove(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    request
        .write(move |tx, ctx| gateways::save(tx, ctx, channel, None, &Secret::Keep))
        .await?;
    request.done("The gateway is gone, and its secret with it.", HERE)
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
            page.test_failure = told(cause)?;
            answer::form_again(&page)
        }
    }
}
