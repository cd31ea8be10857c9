//! `gatepost serve`

use super::{log, print, print_json};
use crate::{
    admin::{Console, Reach},
    core::{
        litestream::Litestream,
        sections,
        settings::{self, values::host},
        standby::{self, Replication, Standby},
        texts,
    },
    db::{Durability, ServeLock, Store, Tx, salvage},
    hub::Hub,
    identity::App,
    ops::check,
    server::{self, Limits, Options, Tls},
    types::{
        Timestamp,
        error::{Error, Result},
        os,
        text::sentence,
    },
};
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::TcpListener;

/// The time that the end waits for reads that nobody waits for any more.
const READS_MAX: Duration = Duration::from_secs(1);
/// The time that it waits for threads that still have the file open.
const CLOSE_MAX: Duration = Duration::from_secs(2);

/// Where a hub keeps what venues push: an address of PostgreSQL, or its own file.
pub(super) struct HubStore(pub Option<String>);

/// Start the server; makes the file when there is none, and brings an older one up to date.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  gatepost serve --listen 0.0.0.0:8080 --public-url https://gate.example.org\n  gatepost serve --listen 0.0.0.0:443 --tls-cert fullchain.pem --tls-key privkey.pem\n  gatepost serve --tls-self-signed --log-format json --access-log\n\nSIGTERM or Ctrl-C ends it: what was accepted is answered first; Ctrl-C again ends it at once. /health/live, /health/ready and\n/metrics tell how it is."
)]
pub struct Args {
    /// The address to listen on.
    #[arg(long, default_value = "0.0.0.0:8080", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The address that clients reach the server by; from the request's Host without it.
    #[arg(long, value_name = "URL", value_parser = public_url)]
    public_url: Option<String>,
    /// Do not announce the server on the LAN (as `_gatepost._tcp`, by DNS-SD).
    #[arg(long)]
    no_mdns: bool,
    /// The failures that an acknowledged write survives: power loss (full), or only the end of the process.
    #[arg(long, value_enum, default_value = "full")]
    durability: Durability,
    /// Serve HTTPS with this certificate chain (PEM); read anew whenever it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Serve HTTPS with a certificate of its own, for this machine's names and addresses, signed by a local
    /// CA that devices trust once (/gate/trust); both are kept in the database file.
    #[arg(long, conflicts_with = "tls_cert")]
    tls_self_signed: bool,
    /// Let the console answer other machines without TLS, too: passwords then cross the network as
    /// they are.
    #[arg(long)]
    console_lan: bool,
    /// Tell clients what a second machine has: the control socket of the Litestream that replicates the file.
    #[arg(long, value_name = "SOCKET", env = "GATEPOST_REPLICATED")]
    replicated: Option<PathBuf>,
    /// Further languages of the console, and other words for texts: a folder with files such as fr.ftl, or with a
    /// folder for each language, with the keys of assets/texts.
    #[arg(long, value_name = "DIR")]
    texts: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    log: log::Log,
}

/// Serves until it is interrupted.
pub fn run(args: Args, db: &Path, json: bool) -> Result<()> {
    run_as(args, db, json, None)
}

/// As [`run`], and as the head office over many venues where a store of theirs is named.
pub(super) fn run_as(mut args: Args, db: &Path, json: bool, hub: Option<HubStore>) -> Result<()> {
    let _log = log::start(&args.log)?;
    texts::load(args.texts.as_deref())?;
    let mut lock = ServeLock::take(db)?;
    fit_files(&mut args.limits);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::defect)?;
    // Before the file: where the address is taken, none is made.
    let listener = runtime
        .block_on(TcpListener::bind(args.listen))
        .map_err(|cause| unusable(args.listen, &cause))?;
    let notices = notices(db, &lock)?;
    let store = Store::open_to_serve(db, args.durability, &lock)?;
    super::tell_of_copy(&store)?;
    keep(&store, notices)?;
    store.look_up(sections::compile_all)?;
    lock.claim()?;
    if store.lacks_index() {
        tracing::warn!("the index for searching is damaged; it is made anew, which takes a moment");
        check::rebuild_index(&store, &lock)?;
    }
    let (console, mut options) = console(args, store, hub.is_some())?;
    if let Some(store) = hub {
        let opened = Hub::open(console.app(), store.0.as_deref());
        options.hub = Some(runtime.block_on(opened)?);
    }
    let outcome = runtime.block_on(serve(&console, listener, options, json));
    if console.store.stats().stopped().is_none()
        && let Err(cause) = console.store.finish()
    {
        tracing::error!("the log could not be emptied at the end: {cause}");
    }
    if let Some(lost) = console.store.lost() {
        eprintln!(
            "gatepost: {} was removed, renamed, replaced, overwritten or cut short while the server ran",
            lost.display()
        );
        // Closing the file would remove the log that stands there by now, whosever it is.
        os::end_at_once();
    }
    let open = console.store.open_guard();
    drop(console);
    // A list whose client is gone is not waited for. The writer is: the store finishes its queue
    // when the last of the application goes, here or on a thread that did not end with the runtime.
    runtime.shutdown_timeout(READS_MAX);
    let begun = Instant::now();
    while open.strong_count() > 0 && begun.elapsed() < CLOSE_MAX {
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(lock);
    outcome
}

/// The application and its console, and how they meet the network.
fn console(mut args: Args, store: Store, hub: bool) -> Result<(Arc<Console>, Options)> {
    let found = second_machine(&mut args, &store)?;
    let host = found.0.as_ref().and_then(|standby| standby.host.as_deref());
    let tls = tls(&args, &store, host)?;
    let reach = Reach {
        tls: tls.is_some(),
        own_ca: tls
            .as_ref()
            .is_some_and(|it| it.own_certificate().is_some()),
        lan: args.console_lan,
        hub,
    };
    let options = Options {
        limits: args.limits,
        tls,
        announced: !args.no_mdns,
        hub: None,
    };
    let app = App::new(store, args.public_url);
    if let (Some(standby), Some(header)) = found {
        let litestream = args
            .replicated
            .map(|socket| Litestream::new(&socket, app.store.path()));
        let _ = app
            .replication
            .set(Replication::new(&standby, header, litestream));
    }
    Ok((Console::new(app, reach), options))
}

/// The second machine's row and the proof of its epoch, where `standby init` was run. What clients know the first machine
/// by is kept in the file, for the one that takes over.
fn second_machine(args: &mut Args, store: &Store) -> Result<(Option<Standby>, Option<String>)> {
    args.public_url = args
        .public_url
        .take()
        .map(|url| url.trim_end_matches('/').to_owned());
    let Some(standby) = store.look_up(Standby::find)? else {
        if args.replicated.is_some() {
            return Err(Error::invalid(
                "--replicated: run `gatepost standby init` on this file first",
            ));
        }
        return Ok((None, None));
    };
    let url = args.public_url.clone();
    if standby.replaced().is_none() {
        let keep = move |tx: &Tx<'_>| standby::keep_names(tx, &server::host(), url.as_deref());
        store.write(keep).wait()?;
    }
    args.public_url = args
        .public_url
        .take()
        .or_else(|| standby.public_url.clone());
    let header = store.look_up(|connection| standby::proven(connection, standby.epoch))?;
    Ok((Some(standby), header))
}

/// What an administrator must know of the log that the last run left: that it was damaged, and what of it was taken.
fn notices(db: &Path, lock: &ServeLock) -> Result<Vec<String>> {
    let mut notices = Vec::new();
    if let Some(salvaged) = salvage::salvage(db, lock, Timestamp::now())? {
        notices.push(format!(
            "{} The damaged log is kept as {}. Check the disk of this machine.",
            sentence(&salvaged.damage.to_string()),
            salvaged.quarantined.display()
        ));
    }
    // Logged at once: the start may still fail.
    for notice in &notices {
        tracing::error!("{notice}");
    }
    Ok(notices)
}

/// Has the dashboard and `check` show notices, and what the file has lost, until somebody acknowledges them.
fn keep(store: &Store, mut notices: Vec<String>) -> Result<()> {
    for loss in store.usage().told() {
        tracing::error!("{loss}");
        notices.push(loss);
    }
    if let Some(unchecked) = unchecked(store)? {
        tracing::warn!("{unchecked}");
        notices.push(unchecked);
    }
    if notices.is_empty() {
        return Ok(());
    }
    store
        .write(move |tx| {
            let stored = settings::notices::list(tx)?;
            notices
                .into_iter()
                .filter(|notice| stored.iter().all(|stored| stored.what != *notice))
                .try_for_each(|notice| settings::notices::add(tx, notice))
        })
        .wait()?;
    store.usage().forget_told();
    Ok(())
}

/// The sentence about sections whose schema is not checked, where there are any.
fn unchecked(store: &Store) -> Result<Option<String>> {
    let unchecked = store.look_up(sections::unchecked)?;
    let names = unchecked
        .iter()
        .map(|(kind, name)| format!("{name} ({})", kind.name()));
    let names = names.collect::<Vec<_>>().join(", ");
    Ok((!names.is_empty()).then(|| {
        format!(
            "Sections of data that take anything, because their schemas are too large, or have references ($ref) that could \
             not be written out: {names}. Change the schemas under Settings, Data sections."
        )
    }))
}

/// The error for an address at which nothing can be served.
fn unusable(listen: SocketAddr, cause: &std::io::Error) -> Error {
    let advice = match cause.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another program listens there, perhaps another gatepost: end it, or choose another port, such as --listen 0.0.0.0:8081"
        }
        std::io::ErrorKind::PermissionDenied => {
            "; ports below 1024 take more rights: choose another, such as --listen 0.0.0.0:8080"
        }
        _ => "",
    };
    Error::invalid(format!("--listen {listen}: {cause}{advice}"))
}

/// Takes as many files as the system gives, and plans with no more connections than that.
fn fit_files(limits: &mut Limits) {
    let wanted = limits.max_connections;
    match os::raise_file_limit() {
        Ok(files) => files.into_iter().for_each(|files| limits.fit_into(files)),
        Err(cause) => tracing::warn!("the limit of open files cannot be raised: {cause}"),
    }
    if limits.max_connections < wanted {
        tracing::warn!(
            "only {} connections at a time, as the system allows so few open files (ulimit -n)",
            limits.max_connections
        );
    }
}

/// `taken_over` is the name of the machine that had the file first.
fn tls(args: &Args, store: &Store, taken_over: Option<&str>) -> Result<Option<Tls>> {
    match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Tls::from_files(certificate, key).map(Some),
        _ if args.tls_self_signed => {
            let names = [args.public_url.as_deref().and_then(host), taken_over];
            let names = names.into_iter().flatten().map(ToOwned::to_owned);
            Tls::own(store, names.collect()).map(Some)
        }
        _ => Ok(None),
    }
}

/// Reads an address that links can be made of.
fn public_url(text: &str) -> std::result::Result<String, String> {
    let web = ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    let plain = !text.contains(['?', '#', ' ', '"', '<', '>']);
    if web && plain && host(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("must be an address such as https://gate.example.org".into())
    }
}

async fn serve(
    console: &Arc<Console>,
    listener: TcpListener,
    options: Options,
    json: bool,
) -> Result<()> {
    let address = listener.local_addr().map_err(Error::invalid_cause)?;
    let interrupted = os::interrupted().map_err(Error::defect)?;
    announce(console, address, options.tls.as_ref(), json)?;
    Box::pin(server::run(
        Arc::clone(console),
        listener,
        options,
        interrupted,
    ))
    .await
}

fn announce(console: &Console, address: SocketAddr, tls: Option<&Tls>, json: bool) -> Result<()> {
    let scheme = if tls.is_some() { "https" } else { "http" };
    let shown = if address.ip().is_unspecified() {
        format!("{scheme}://localhost:{}", address.port())
    } else {
        format!("{scheme}://{address}")
    };
    let db = console.store.path().display();
    let setup = console
        .store
        .look_up(|connection| console.setup.link(connection))?
        .map(|path| format!("{shown}{path}"));
    let fingerprint = tls.map(Tls::fingerprint);
    let ca = tls.and_then(Tls::own_certificate);
    if json {
        let mut line = serde_json::json!({"url": shown, "listen": address.to_string()});
        if let Some(fingerprint) = fingerprint {
            line["certificateSha256"] = fingerprint.into();
        }
        if let Some(ca) = ca {
            line["caSha256"] = ca.fingerprint().into();
        }
        if let Some(setup) = setup {
            line["setup"] = setup.into();
        }
        return print_json(&line);
    }
    print(&format!("Gatepost serves {db} at {shown}"))?;
    print(&format!(
        "Console: {shown}/console   API reference: {shown}/docs"
    ))?;
    if let Some(fingerprint) = fingerprint {
        print(&format!("Certificate (SHA-256): {fingerprint}"))?;
    }
    if let Some(ca) = ca {
        let (name, fingerprint) = (ca.ca_name()?, ca.fingerprint());
        print(&format!(
            "{name} (SHA-256): {fingerprint}\nDevices install this CA once, from http://<this machine>:{}/gate/trust",
            address.port()
        ))?;
    }
    if let Some(setup) = setup {
        print(&format!(
            "\nFirst run: open this once, in a browser on this machine, and become administrator:\n  {setup}"
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::public_url;

    #[test]
    fn a_public_url_is_one_that_links_can_be_made_of() {
        assert!(public_url("https://gate.example.org:8443/x/").is_ok());
        for bad in [
            "nope",
            "ftp://a",
            "https://",
            "http://a?b",
            "http://a b",
            "",
        ] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
    }
}
