//! The gateway of one channel. Its secret is never shown; whoever changes where it is sent has to type
//! it again.

use super::{gateways::HERE, tabs};
use crate::{
    admin::{
        Area, Fields, Layout, RequestContext, answer,
        engine::{self, At, Editor, Group, Groups, Input, Key, Tabs},
        form::is_theirs,
        route::{ADMINISTRATOR, Routes},
    },
    core::Context,
    db::Tx,
    domain::messages::{
        Channel,
        compose::Composed,
        gateways::{
            self, Definition, Http, Secret,
            http::PLACES,
            presets::{self, PRESETS, Preset},
        },
        preview,
    },
    types::error::{Error, Kind, Result},
};
use askama::Template;
use poem::Response;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// Types of a body that are offered.
const TYPES: [&str; 3] = [
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
];

pub(super) fn routes() -> Routes {
    let edit = "/console/messages/gateways/:channel";
    Routes::access(ADMINISTRATOR)
        .get(edit, engine::show::<Gateways>)
        .post(edit, engine::submit::<Gateways>)
        .post("/console/messages/gateways/:channel/remove", remove)
        .post("/console/messages/gateways/:channel/test", test)
}

struct Gateways;

/// A gateway as its form has it.
#[derive(Clone, serde::Serialize)]
struct Draft {
    #[serde(flatten)]
    definition: Definition,
    #[serde(skip)]
    secret: Secret,
}

impl Draft {
    fn of(definition: Definition) -> Self {
        Self {
            definition,
            secret: Secret::Keep,
        }
    }
}

impl Key for Channel {
    fn of(request: &RequestContext) -> Result<Option<Self>> {
        Self::named(&request.path("channel")?)
            .map(Some)
            .map_err(|_| Error::new(Kind::NoSuchPath, "there is no such gateway"))
    }
}

#[derive(Template)]
#[template(path = "messages/gateway.html")]
struct Aside<'a> {
    layout: &'a Layout,
    channel: Channel,
    /// Providers or services to choose from: label, address, and whether it is this one.
    kinds: Vec<(&'static str, String, bool)>,
    is_set: bool,
    places: &'static [(&'static str, &'static str)],
    address_label: &'static str,
    /// The address of a test.
    address: &'a str,
}

impl Editor for Gateways {
    type Key = Channel;
    type Draft = Draft;
    type Created = ();
    const LIST: &'static str = HERE;
    const NOUN: &'static str = "gateway";
    const AREA: Area = Area::Messages;

    fn tabs(layout: &Layout) -> Tabs {
        (tabs(layout), "Gateways")
    }

    fn blank(_: &RequestContext) -> Draft {
        Draft::of(presets::blank(Channel::Email))
    }

    fn find(connection: &Connection, channel: &Channel) -> Result<Draft> {
        let known = gateways::find(connection, *channel)?;
        let definition = known.map_or_else(|| presets::blank(*channel), |known| known.definition);
        Ok(Draft::of(definition))
    }

    fn opened(request: &RequestContext, stored: Draft) -> Draft {
        let channel = Channel::of(request).ok().flatten();
        let asked =
            channel.and_then(|channel| presets::filled_in(channel, request.query.filled("fill")?));
        asked.map_or(stored, Draft::of)
    }

    fn name(draft: &Draft) -> String {
        let name = match draft.definition {
            Definition::Smtp(_) => "Mail server",
            Definition::Fcm(_) => "Push service",
            Definition::Http(_) => "Provider",
        };
        name.to_owned()
    }

    fn groups(connection: &Connection, channel: Option<&Channel>, draft: &Draft) -> Groups {
        let channel = *channel.unwrap_or(&Channel::Email);
        let known = gateways::find(connection, channel)?;
        let has_secret = known.is_some_and(|known| known.has_secret);
        let mut inputs = match &draft.definition {
            Definition::Smtp(_) => smtp_inputs(has_secret),
            Definition::Fcm(_) => fcm_inputs(has_secret),
            Definition::Http(http) => http_inputs(channel, http, has_secret),
        };
        if has_secret {
            let forget = Input::flag("noSecret", "Forget the stored secret");
            inputs.push(forget.wide().apart());
        }
        let mut shown = json!(draft);
        if let Definition::Http(http) = &draft.definition {
            let headers = http.headers.iter();
            let headers = headers.map(|(name, value)| format!("{name}: {value}"));
            shown["headers"] = json!(headers.collect::<Vec<_>>());
            shown["successPath"] = json!(http.success.as_ref().map(|success| &success.path));
            shown["successEquals"] = json!(http.success.as_ref().map(|success| &success.equals));
        }
        engine::filled(vec![Group::new("Connection", inputs)], &shown)
    }

    fn typed(groups: &[Group], sent: &Fields) -> Result<Draft> {
        let mut values = engine::read(groups.iter().flat_map(|group| &group.inputs), sent)?;
        if let Some(Value::String(certificate)) = values.get_mut("certificate") {
            *certificate = certificate.trim().to_owned();
        }
        if values.get("kind") == Some(&json!("http")) {
            gather_http(&mut values)?;
        }
        let secret = match sent.filled("secret") {
            Some(secret) => Secret::Set(secret.to_owned()),
            None if sent.ticked("noSecret") => Secret::Set(String::new()),
            None => Secret::Keep,
        };
        Ok(Draft {
            definition: engine::parse(values)?,
            secret,
        })
    }

    async fn prepare(at: At<'_, Self>, draft: Draft) -> Result<Draft> {
        let reach = at.request.console.outgoing.reach();
        let channel = *at.key.unwrap_or(&Channel::Email);
        draft.definition.check(channel, reach)?;
        Ok(draft)
    }

    fn create(_: &Tx<'_>, _: &Context, _: &Draft) -> Result<()> {
        Err(Error::defect("every channel has its own address"))
    }

    fn update(tx: &Tx<'_>, ctx: &Context, channel: &Channel, draft: &Draft) -> Result<()> {
        let goes_elsewhere = gateways::find(tx, *channel)?.is_some_and(|known| {
            known.has_secret && known.definition.destination() != draft.definition.destination()
        });
        if goes_elsewhere && draft.secret == Secret::Keep {
            return Err(Error::field(
                "secret",
                "messages would go somewhere else from now on, where the stored secret must not be sent. Type the secret for the new destination",
            ));
        }
        gateways::save(tx, ctx, *channel, Some(&draft.definition), &draft.secret)
    }

    fn created(request: &RequestContext, _: Draft, (): ()) -> Result<Response> {
        request.done("Gateway saved.", HERE)
    }

    fn saved(request: &RequestContext, channel: &Channel, _: &Draft) -> Result<Response> {
        let page = Self::page(channel);
        request.done("Gateway saved. Send a test to see whether it works.", &page)
    }

    fn page(channel: &Channel) -> String {
        format!("{HERE}/{}", channel.name())
    }

    async fn aside(at: At<'_, Self>) -> Result<String> {
        let channel = *at.key.unwrap_or(&Channel::Email);
        let known = at
            .request
            .look_up(|connection| gateways::find(connection, channel))?;
        let draft = Self::opened(at.request, at.stored.clone());
        answer::part(&Aside {
            layout: at.layout,
            channel,
            kinds: kinds(channel, &draft.definition),
            is_set: known.is_some(),
            places: match draft.definition {
                Definition::Http(_) => &PLACES,
                _ => &[],
            },
            address_label: match channel {
                Channel::Email => "E-mail address",
                Channel::Sms => "Phone number",
                Channel::Push => "Push token",
            },
            address: at.request.form.text("address"),
        })
    }
}

/// Headers and the condition of success, from lines and fields to what a definition has.
fn gather_http(values: &mut Map<String, Value>) -> Result<()> {
    let lines = values.remove("headers").unwrap_or_default();
    let lines = lines.as_array().into_iter().flatten();
    let headers = lines.filter_map(Value::as_str).map(|line| {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            Error::field(
                "headers",
                "one a line, such as Authorization: Bearer {{ secret }}",
            )
        })?;
        Ok((name.trim().to_owned(), json!(value.trim())))
    });
    let headers = headers.collect::<Result<Map<_, _>>>()?;
    values.insert("headers".into(), headers.into());
    let equals = values.remove("successEquals").unwrap_or_else(|| json!(""));
    if let Some(path) = values.remove("successPath") {
        values.insert("success".into(), json!({"path": path, "equals": equals}));
    }
    Ok(())
}

/// Lists the choices in place of a definition.
fn kinds(channel: Channel, definition: &Definition) -> Vec<(&'static str, String, bool)> {
    let kind = |name: &str, label, chosen| {
        let link = format!("{HERE}/{}?fill={name}", channel.name());
        (label, link, chosen)
    };
    match (channel, definition) {
        (Channel::Sms, Definition::Http(http)) => {
            let chosen = http.preset.as_deref().and_then(Preset::named);
            let chosen = chosen.map(|preset| preset.name);
            let presets = PRESETS.iter();
            let presets =
                presets.map(|known| kind(known.name, known.label, chosen == Some(known.name)));
            presets
                .chain([kind("own", "Another one", chosen.is_none())])
                .collect()
        }
        (Channel::Push, definition) => {
            let is_fcm = matches!(definition, Definition::Fcm(_));
            vec![
                kind("fcm", "Firebase Cloud Messaging", is_fcm),
                kind("http", "A service of your own (HTTP)", !is_fcm),
            ]
        }
        _ => Vec::new(),
    }
}

fn secret(input: Input, has_secret: bool) -> Input {
    let input = input.apart().secret();
    if has_secret {
        input.placeholder("stored; type a new one to change it")
    } else {
        input
    }
}

fn smtp_inputs(has_secret: bool) -> Vec<Input> {
    let security = [
        ("starttls", "STARTTLS (mostly port 587)"),
        ("tls", "TLS from the start (mostly port 465)"),
        ("none", "not protected"),
    ];
    vec![
        Input::hidden("kind", "smtp"),
        Input::text("host", "Mail server").required().placeholder("mail.example.org"),
        Input::number("port", "Port", 1, 65_535),
        Input::select("security", "Connection", security)
            .wide()
            .help("Without TLS, password and e-mails cross the network unprotected."),
        Input::text("from", "Sender").required().placeholder("Summit <summit@example.org>"),
        Input::text("replyTo", "Reply to").placeholder("the sender"),
        Input::text("user", "User").placeholder("none"),
        secret(Input::line("password", "secret", "Password"), has_secret)
            .help("Stored in the database file, never shown or exported."),
        Input::area("certificate", "Trusted certificate (PEM)", 4)
            .wide()
            .code()
            .placeholder("-----BEGIN CERTIFICATE-----")
            .help(
                "Only if the mail server's certificate is signed by an authority of your own, or by \
                 itself. Nothing else is trusted then.",
            ),
    ]
}

fn fcm_inputs(has_secret: bool) -> Vec<Input> {
    vec![
        Input::hidden("kind", "fcm"),
        secret(Input::area("secret", "Service account's key (JSON)", 6), has_secret)
            .wide()
            .code()
            .help(
                "From the Firebase console: Project settings, Service accounts, Generate new private \
                 key. The whole text of the file. Stored in the database file, never shown or exported.",
            ),
        Input::text("project", "Project").placeholder("the one of the key"),
        Input::text("url", "Address").placeholder("Google's"),
    ]
}

fn http_inputs(channel: Channel, http: &Http, has_secret: bool) -> Vec<Input> {
    let preset = http.preset.as_deref().and_then(Preset::named);
    let user = preset.map_or("", |preset| preset.user);
    let mut inputs = vec![
        Input::hidden("kind", "http"),
        Input::hidden("preset", http.preset.as_deref().unwrap_or_default()),
    ];
    if channel == Channel::Sms {
        inputs.push(
            Input::text("from", "Sender")
                .placeholder("+4940123456, or Summit")
                .help("A number of yours, or a name, as the provider allows."),
        );
    }
    let password = Input::line(
        "password",
        "secret",
        preset.map_or("Secret", |preset| preset.secret),
    );
    inputs.extend([
        Input::text("user", if user.is_empty() { "User" } else { user }).placeholder("none"),
        secret(password, has_secret).help("Stored in the database file, never shown or exported."),
        Input::select(
            "method",
            "Method",
            ["POST", "PUT", "GET"].map(|name| (name, name)),
        ),
        Input::text("contentType", "Type of the body").offered(TYPES),
        Input::text("url", "Address").required().wide(),
        Input::lines("headers", "Headers, one a line", 3)
            .wide()
            .code(),
        Input::area("body", "Body", 5).wide().code(),
        Input::text("successPath", "Success if the answer has, at")
            .placeholder("any answer 2xx")
            .help("Such as messages.0.status, in a JSON answer."),
        Input::text("successEquals", "this value"),
    ]);
    inputs
}

fn channel(request: &RequestContext) -> Result<Channel> {
    Channel::of(request)?.ok_or_else(|| Error::defect("the route names a channel"))
}

async fn remove(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    request
        .write(move |tx, ctx| gateways::save(tx, ctx, channel, None, &Secret::Keep))
        .await?;
    request.done("Gateway and its secret removed.", HERE)
}

/// Puts a test into the outbox, which shows what becomes of it.
async fn test(request: RequestContext) -> Result<Response> {
    let channel = channel(&request)?;
    let settings = request.console.settings();
    match preview::test_address(&settings, channel, request.form.text("address")) {
        Ok(address) => {
            let name = settings.name();
            let composed = Composed {
                subject: (channel != Channel::Sms).then(|| format!("A test from {name}")),
                body: format!("This is a test from {name}. It works."),
                html: None,
            };
            let put =
                request.write(move |tx, _| preview::send_test(tx, channel, address, composed));
            Ok(answer::go(&super::page(put.await?)))
        }
        Err(cause) if is_theirs(&cause) => {
            engine::failed::<Gateways>(&request, &channel, &cause).await
        }
        Err(cause) => Err(cause),
    }
}
