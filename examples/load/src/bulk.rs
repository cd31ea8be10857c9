//! One thing done to many attendees in the console, while gates check people in: how long it takes, and what the gates
//! notice of it. Rounds without and with it come in turn.

use crate::{
    Result,
    client::{Connection, Target},
    measure,
    output::{Output, OwnServer, machine},
    pages, prepare,
    report::{grouped, median, ms},
    run::Plan,
    server::Server,
    setup::{Access, Venue},
};
use std::time::{Duration, Instant};

/// What the run is made of.
#[derive(clap::Args, Clone)]
pub struct Options {
    #[command(flatten)]
    own: OwnServer,
    /// Attendees, all of them selected
    #[arg(long, visible_alias = "attendees", default_value_t = 10_000)]
    delegates: i64,
    #[arg(long, default_value_t = 100)]
    sessions: i64,
    #[arg(long, default_value_t = 64)]
    gates: usize,
    /// Check-ins a second, all gates together
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Seconds of each half of a round
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Rounds of each action
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// How often the page of something that goes on is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// What those have in common who are selected.
const SELECTED: &str = "Selected";
/// What is done in turn, so that each time has something to do: as the address of the form has it.
const ACTIONS: [(&str, [&str; 2]); 3] = [
    ("check-in and check-out", ["check-in", "check-out"]),
    ("set type", ["type&with=Guest", "type&with=Visitor"]),
    ("e-mail", ["message", "message"]),
];

/// Measures and prints.
pub async fn figures(options: &Options) -> Result<()> {
    let mut output = Output::to(options.own.output.as_deref())?;
    output.line(machine())?;
    output.line(format!(
        "{} delegates selected, as many in the file beside them; {} gates, {} check-ins/s, {} s each; --durability full\n",
        options.delegates, options.gates, options.rate, options.seconds
    ))?;
    let db = options
        .own
        .fresh("bulk.db", (options.delegates * 2, options.sessions, 0))?;
    let binary = options.own.binary();
    rusqlite::Connection::open(&db)?.execute(
        "UPDATE delegates SET job_title = ?1 WHERE id > ?2",
        rusqlite::params![SELECTED, options.delegates],
    )?;
    pages::make_administrator(&binary, &db)?;
    let server = Server::start(&binary, &db).await?;
    // The gates have the other half of the file: whoever is checked in by them and here is refused at one of both.
    let mut access = Access::at(server.url());
    access.delegates = Some(u64::try_from(options.delegates)?);
    let venue = Venue::enter(&access).await?;
    let console = pages::sign_in(&server.url()).await?;
    // Messages wait for a server that does not answer.
    let gateway = [
        ("do", "save"),
        ("host", "mail.invalid"),
        ("port", "587"),
        ("security", "starttls"),
        ("from", "load@example.org"),
    ];
    let mut connection = console.connect().await?;
    submit(
        &console,
        &mut connection,
        "/console/messages/gateways/email",
        &gateway,
    )
    .await?;
    let place = venue.devices.first().ok_or("no places")?;
    let half = format!(r#"{{"==": ["jobTitle", "{SELECTED}"]}}"#);
    let half: String = form_urlencoded::byte_serialize(half.as_bytes()).collect();
    let plan = Plan::seconds(options.seconds, 1).at_rate(options.rate);
    let mut rows = Vec::new();
    for (name, forms) in ACTIONS {
        let forms = forms.map(|form| match form {
            "check-in" | "check-out" => {
                format!("/console/delegates/bulk?search={half}&do={form}&with={place}")
            }
            "message" => format!("/console/messages/new?search={half}"),
            form => format!("/console/delegates/bulk?search={half}&do={form}"),
        });
        let (mut took, mut ratios) = (Vec::new(), Vec::new());
        for round in 1..=options.rounds {
            let alone = measure::check_ins(&venue, options.gates, false, plan).await?;
            let until = Instant::now() + plan.warm_up + plan.duration;
            let (beside, times) = tokio::try_join!(
                measure::check_ins(&venue, options.gates, false, plan),
                again_and_again(&console, &forms, until),
            )?;
            for half in [&alone, &beside] {
                if half.failures() > 0 {
                    return Err(half.to_string().into());
                }
            }
            output.line(format!("{name}, round {round}, alone: {alone}"))?;
            output.line(format!("{name}, round {round}, beside: {beside}"))?;
            for (duration, told) in times {
                output.line(format!("  {:.2} s: {told}", duration.as_secs_f64()))?;
                took.push(duration.as_secs_f64());
            }
            ratios.push(ms(beside.p99()) / ms(alone.p99()));
        }
        let longest = took.iter().copied().fold(0.0, f64::max);
        rows.push(format!(
            "| {name} | {} | {:.2} s, {longest:.2} s | {:.2} |",
            took.len(),
            median(took),
            median(ratios)
        ));
    }
    drop(server);
    prepare::remove(&db)?;
    #[expect(clippy::cast_precision_loss, reason = "a count of people")]
    let people = grouped(options.delegates as f64);
    output.line(format!(
        "\n| to {people} attendees | times | median, longest | check-ins' p99 beside, of alone (median of rounds) |\n|---|---|---|---|"
    ))?;
    for row in rows {
        output.line(row)?;
    }
    Ok(())
}

/// Does it until a moment: how long each time took, and what the page said at the end.
async fn again_and_again(
    console: &Target,
    forms: &[String; 2],
    until: Instant,
) -> Result<Vec<(Duration, String)>> {
    let mut connection = console.connect().await?;
    let mut times = Vec::new();
    while Instant::now() < until {
        let form = &forms[times.len() % 2];
        times.push(send(console, &mut connection, form).await?);
    }
    Ok(times)
}

/// Begins it, and waits until it is done.
async fn send(
    console: &Target,
    connection: &mut Connection,
    path: &str,
) -> Result<(Duration, String)> {
    let fields: &[_] = if path.starts_with("/console/messages") {
        &[
            ("do", "save"),
            ("subject", "The programme"),
            (
                "content",
                "Dear {{ delegate.firstName }}, see you tomorrow.",
            ),
        ]
    } else {
        &[]
    };
    let begun = Instant::now();
    let location = submit(console, connection, path, fields).await?;
    let mut request = Vec::new();
    loop {
        console.get(&mut request, format_args!("{location}"));
        let answer = connection.exchange(&request).await?;
        let html = String::from_utf8_lossy(answer.body);
        let end = html.split("<p class=\"notice ").skip(1).find_map(|notice| {
            let (_, text) = notice.split_once("role=\"status\">")?;
            text.split("</p>").next()
        });
        if let Some(end) = end {
            return Ok((begun.elapsed(), end.to_owned()));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Fills in the form of a page and sends it: where that leads.
async fn submit(
    console: &Target,
    connection: &mut Connection,
    path: &str,
    filled: &[(&str, &str)],
) -> Result<String> {
    let mut request = Vec::new();
    console.get(&mut request, format_args!("{path}"));
    let answer = connection.exchange(&request).await?;
    let html = String::from_utf8_lossy(answer.body).into_owned();
    let mut fields = form_urlencoded::Serializer::new(String::new());
    let form = html
        .split("<form method=\"post\"")
        .find(|form| form.contains("class=\"button primary\""))
        .ok_or_else(|| format!("{path}: status {}, no form", answer.status))?;
    for field in form.split("type=\"hidden\" name=\"").skip(1) {
        let mut parts = field.split('"');
        if let (Some(name), Some(" value="), Some(value)) =
            (parts.next(), parts.next(), parts.next())
        {
            fields.append_pair(name, &value.replace("&quot;", "\"").replace("&#34;", "\""));
        }
    }
    fields.extend_pairs(filled);
    let (target, _) = path.split_once('?').unwrap_or((path, ""));
    console.post_form(&mut request, target, &fields.finish());
    let answer = connection.exchange(&request).await?;
    if let Some(location) = answer.header("location") {
        return Ok(location.to_owned());
    }
    let told = String::from_utf8_lossy(answer.body);
    let why = told.split("role=\"alert\">").nth(1).unwrap_or_default();
    let why: String = why.chars().take(200).collect();
    Err(format!("{path}: status {}: {why}", answer.status).into())
}
