//! PostgreSQL 15 or newer as the store of one hub or several: the records in partitions by venue, an advisory lock for
//! each batch of a venue. A lost connection fails what ran on it, and the next one goes to whichever host may be written to.

use super::{COLUMNS, Record, Row, Sql, VERSION, Value, on_conflict};
use crate::{
    core::outgoing::tls_config,
    db::HUB_VIEWS,
    types::{
        error::{Error, Kind, Result},
        fold::fold,
    },
};
use bytes::{BufMut, BytesMut};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use std::{
    collections::HashMap,
    error::Error as StdError,
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Handle,
    sync::Semaphore,
    time::timeout,
};
use tokio_postgres::{
    Client, Config, Socket, Statement,
    config::{SslMode, TargetSessionAttrs},
    tls::{ChannelBinding, MakeTlsConnect, NoTls, TlsConnect, TlsStream},
    types::{FromSql, IsNull, ToSql, Type},
};

/// The oldest version that was tried, as PostgreSQL writes it.
const OLDEST: i64 = 150_000;
/// Connections of a hub.
const CONNECTIONS: usize = 8;
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// The longest wait for an answer: a machine that vanished gives none.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// Of the lock under which a hub makes the tables, and of those for venues.
const TABLES_LOCK: i32 = 7_140;
const VENUE_LOCK: i32 = 7_141;
/// Each step makes a newer version of the tables out of the one before.
const STEPS: &[&str] = &[include_str!("postgres.sql")];

static PUT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "INSERT INTO hub_records ({COLUMNS})
         SELECT $1, $2, type, id, sequence, deleted, kind, name, code, email, who, place, subtype, at, amount, data::json
         FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::boolean[], $7::text[], $8::text[], $9::text[], $10::text[],
             $11::bigint[], $12::bigint[], $13::text[], $14::bigint[], $15::bigint[], $16::text[])
             AS u (type, id, sequence, deleted, kind, name, code, email, who, place, subtype, at, amount, data)
         {}",
        on_conflict()
    )
});

/// The connections of a hub.
pub struct Postgres {
    config: Config,
    /// Whose certificates count beside those that this machine trusts.
    authority: Option<CertificateDer<'static>>,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects, and brings the tables to the current version.
    pub async fn open(address: &str) -> Result<Self> {
        let (address, authority) = split_authority(address);
        let authority = authority.map(|file| read_authority(&file)).transpose()?;
        let mut config: Config = address
            .parse()
            .map_err(|cause| Error::invalid(format!("--store: {}", told(&cause))))?;
        if !address.contains("target_session_attrs") {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        config
            .application_name("gatepost hub")
            .connect_timeout(CONNECT_MAX)
            .tcp_user_timeout(Duration::from_secs(10))
            .keepalives_idle(Duration::from_secs(10));
        let postgres = Self {
            config,
            authority,
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(CONNECTIONS)),
        };
        let connection = postgres
            .connect()
            .await
            .map_err(|cause| Error::new(cause.kind, format!("--store: {cause}")))?;
        prepare(&connection.client).await?;
        postgres.idle().push(connection);
        Ok(postgres)
    }

    async fn connect(&self) -> Result<Connection> {
        let client = if self.config.get_ssl_mode() == SslMode::Disable {
            open(&self.config, NoTls).await?
        } else {
            open(
                &self.config,
                Tls(Arc::new(tls_config(self.authority.clone())?)),
            )
            .await?
        };
        // Whatever the server's own setting: what was acknowledged to a venue survives.
        let settings =
            "SET synchronous_commit = on; SET lock_timeout = '20s'; SET statement_timeout = '55s'";
        client.batch_execute(settings).await.map_err(failed)?;
        Ok(Connection {
            client,
            statements: HashMap::new(),
        })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection with an open transaction. One that was lost meanwhile is passed over.
    async fn begin(&self, writes: bool) -> Result<Connection> {
        let begin = if writes {
            "BEGIN"
        } else {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        };
        loop {
            let known = self.idle().pop();
            let is_known = known.is_some();
            let connection = if let Some(connection) = known {
                connection
            } else {
                let connection = self.connect().await?;
                check_version(&connection.client).await?;
                connection
            };
            match connection.client.batch_execute(begin).await {
                Ok(()) => return Ok(connection),
                Err(_) if is_known => {}
                Err(cause) => return Err(failed(cause)),
            }
        }
    }

    /// Runs `work` in a transaction, on a thread that may wait.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        writes: bool,
        work: impl FnOnce(&mut dyn Sql) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(Error::defect)?;
        let connection = self.begin(writes).await?;
        let (pool, handle) = (Arc::clone(self), Handle::current());
        let run = move || {
            let _permit = permit;
            let mut transaction = Transaction { connection, handle };
            let done = work(&mut transaction);
            let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
            let Transaction { connection, handle } = transaction;
            let ended = handle.block_on(answered(connection.client.batch_execute(end)));
            // A connection that failed is dropped: whether its commit was done, the cursor tells.
            let is_lost = matches!(&done, Err(cause) if cause.kind.is_of_store());
            if ended.is_ok() && !is_lost {
                pool.idle().push(connection);
            }
            done.and_then(|done| ended.map(|()| done))
        };
        tokio::task::spawn_blocking(run)
            .await
            .map_err(Error::defect)?
    }
}

/// Takes `sslrootcert=FILE` out of an address, which libpq knows and the driver does not.
fn split_authority(address: &str) -> (String, Option<String>) {
    const NAME: &str = "sslrootcert=";
    let Some((before, rest)) = address.split_once(NAME) else {
        return (address.to_owned(), None);
    };
    let end = rest.find(['&', ' ']).unwrap_or(rest.len());
    let (file, after) = rest.split_at(end);
    let after = after.trim_start_matches(['&', ' ']);
    let kept = format!("{before}{after}");
    let file = if address.contains("://") {
        let pair = format!("{NAME}{file}");
        form_urlencoded::parse(pair.as_bytes())
            .next()
            .map(|(_, file)| file.into_owned())
    } else {
        Some(file.trim_matches('\'').to_owned())
    };
    (kept.trim_end_matches(['?', '&', ' ']).to_owned(), file)
}

fn read_authority(file: &str) -> Result<CertificateDer<'static>> {
    CertificateDer::from_pem_file(file)
        .map_err(|cause| Error::invalid(format!("--store: sslrootcert={file}: {cause}")))
}

async fn open<T>(config: &Config, tls: T) -> Result<Client>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::TlsConnect: Send,
    T::Stream: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    // Each host has its own time.
    let most = CONNECT_MAX * u32::try_from(config.get_hosts().len().max(1)).unwrap_or(1) * 2;
    let connected = timeout(most, config.connect(tls)).await;
    let connected = connected.map_err(|_| Error::unavailable("PostgreSQL does not answer"))?;
    let (client, connection) = connected.map_err(failed)?;
    tokio::spawn(async move {
        if let Err(cause) = connection.await {
            tracing::warn!("the connection to PostgreSQL: {}", told(&cause));
        }
    });
    Ok(client)
}

/// Checks PostgreSQL's version, and makes the tables or brings them up to date; one hub at a time.
async fn prepare(client: &Client) -> Result<()> {
    let found = client
        .query_one("SHOW server_version_num", &[])
        .await
        .map_err(failed)?;
    let number: String = found.get(0);
    let number: i64 = number.parse().unwrap_or_default();
    if number < OLDEST {
        return Err(Error::invalid(format!(
            "--store: this is PostgreSQL {}; the hub needs version {} or newer",
            number / 10_000,
            OLDEST / 10_000
        )));
    }
    client
        .batch_execute(&format!(
            "BEGIN; SELECT pg_advisory_xact_lock({TABLES_LOCK}, 0)"
        ))
        .await
        .map_err(failed)?;
    let is_there = client
        .query_one("SELECT to_regclass('hub_schema') IS NOT NULL", &[])
        .await
        .map_err(failed)?;
    let mut version = 0;
    if is_there.get(0) {
        version = check_version(client).await?;
    }
    for step in STEPS
        .iter()
        .skip(usize::try_from(version).unwrap_or_default())
    {
        client.batch_execute(step).await.map_err(failed)?;
    }
    let views = HUB_VIEWS
        .replace("file.", "")
        .replace("CREATE VIEW", "CREATE OR REPLACE VIEW");
    client.batch_execute(&views).await.map_err(failed)?;
    let set = format!("DELETE FROM hub_schema; INSERT INTO hub_schema VALUES ({VERSION}); COMMIT");
    client.batch_execute(&set).await.map_err(failed)
}

/// # Errors
/// [`Kind::ForeignFile`] where a newer version made the tables.
async fn check_version(client: &Client) -> Result<i64> {
    let found = client
        .query_opt("SELECT max(version) FROM hub_schema", &[])
        .await
        .map_err(failed)?;
    let version = found
        .and_then(|row| row.get::<_, Option<i64>>(0))
        .unwrap_or_default();
    if version > VERSION {
        return Err(Error::new(
            Kind::ForeignFile,
            format!(
                "the tables in PostgreSQL are of version {version}, made by a newer Gatepost; this one knows version {VERSION}: update it"
            ),
        ));
    }
    Ok(version)
}

/// Waits for an answer.
async fn answered<T>(asked: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
    match timeout(ANSWER_MAX, asked).await {
        Ok(answer) => answer.map_err(failed),
        Err(_) => Err(Error::unavailable("PostgreSQL does not answer")),
    }
}

/// An error of PostgreSQL; another attempt helps, unless the statement was wrong.
fn failed(cause: tokio_postgres::Error) -> Error {
    let told = format!("PostgreSQL: {}", told(&cause));
    let code = cause.code().map(|code| code.code().to_owned());
    let is_wrong = code.is_some_and(|code| {
        !["08", "25", "40", "53", "55", "57", "58"]
            .iter()
            .any(|class| code.starts_with(class))
    });
    if is_wrong {
        Error::defect(told)
    } else {
        tracing::warn!("{told}");
        Error::unavailable(told)
    }
}

fn told(cause: &tokio_postgres::Error) -> String {
    let inner = cause.source().map(ToString::to_string);
    if let Some(why) = inner.as_ref().filter(|why| why.contains("certificate")) {
        return format!(
            "its certificate is not trusted here ({why}); name its authority in the address: sslrootcert=FILE"
        );
    }
    match (cause.as_db_error(), inner) {
        (Some(cause), _) => cause.message().to_owned(),
        (None, Some(inner)) => format!("{cause}: {inner}"),
        (None, None) => cause.to_string(),
    }
}

struct Transaction {
    connection: Connection,
    handle: Handle,
}

impl Transaction {
    fn statement(&mut self, sql: &str) -> Result<Statement> {
        if let Some(known) = self.connection.statements.get(sql) {
            return Ok(known.clone());
        }
        let text = sql.replace('?', "$");
        let made = self
            .handle
            .block_on(answered(self.connection.client.prepare(&text)))?;
        self.connection
            .statements
            .insert(sql.to_owned(), made.clone());
        Ok(made)
    }
}

impl Sql for Transaction {
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let statement = self.statement(sql)?;
        let values: Vec<_> = values.iter().map(Cell::of).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let asked = self.connection.client.query(&statement, &values);
        let rows = self.handle.block_on(answered(asked))?;
        let row = |row: &tokio_postgres::Row| {
            let cells = (0..row.len()).map(|at| row.try_get::<_, Cell>(at).map(|cell| cell.0));
            cells.collect::<Result<_, _>>().map(Row)
        };
        let rows: Result<_, _> = rows.iter().map(row).collect();
        rows.map_err(failed)
    }

    /// As far as one letter stands for another: `lower` of a database in locale C knows ASCII alone.
    fn holds(&self, column: &str, folded: &str) -> String {
        let accented = ('\u{c0}'..'\u{250}').filter_map(|letter| {
            let plain = fold(letter.encode_utf8(&mut [0; 4]));
            (plain.len() == 1).then_some((letter, plain))
        });
        let (from, to): (String, String) = accented.unzip();
        format!("strpos(translate(lower({column}), '{from}-''’', '{to} '), {folded}) > 0")
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64> {
        let statement = self.statement(sql)?;
        let values: Vec<_> = values.iter().map(Cell::of).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let asked = self.connection.client.execute(&statement, &values);
        self.handle.block_on(answered(asked))
    }

    fn put(&mut self, venue: i64, generation: i64, records: &[Record]) -> Result<()> {
        fn all<T>(records: &[Record], one: impl Fn(&Record) -> T) -> Vec<T> {
            records.iter().map(one).collect()
        }
        fn texts(records: &[Record], one: fn(&Record) -> &Option<String>) -> Vec<Option<String>> {
            // PostgreSQL has no texts with this letter.
            all(records, |record| {
                one(record).as_ref().map(|text| text.replace('\0', ""))
            })
        }
        let statement = self.statement(&PUT)?;
        let values: [Box<dyn ToSql + Sync + Send>; 16] = [
            Box::new(venue),
            Box::new(generation),
            Box::new(all(records, |one| one.record_type.clone())),
            Box::new(all(records, |one| one.id)),
            Box::new(all(records, |one| one.sequence)),
            Box::new(all(records, |one| one.is_deleted)),
            Box::new(all(records, |one| one.kind.clone())),
            Box::new(texts(records, |one| &one.name)),
            Box::new(texts(records, |one| &one.code)),
            Box::new(texts(records, |one| &one.email)),
            Box::new(all(records, |one| one.who)),
            Box::new(all(records, |one| one.place)),
            Box::new(texts(records, |one| &one.subtype)),
            Box::new(all(records, |one| one.at)),
            Box::new(all(records, |one| one.amount)),
            Box::new(texts(records, |one| &one.data)),
        ];
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as _).collect();
        let asked = self.connection.client.execute(&statement, &values);
        self.handle.block_on(answered(asked)).map(drop)
    }

    fn report(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        // PostgreSQL gathers no statistics of a partitioned table by itself, and takes what was just pushed for one row:
        // row by row, it would read a place for each interaction.
        let set = "SET LOCAL enable_nestloop = off";
        let asked = self.connection.client.batch_execute(set);
        self.handle.block_on(answered(asked))?;
        self.query(sql, values)
    }

    fn lock(&mut self, venue: i64) -> Result<()> {
        let number = i32::try_from(venue).map_err(Error::defect)?;
        let sql = format!("SELECT pg_advisory_xact_lock({VENUE_LOCK}, {number})");
        let asked = self.connection.client.batch_execute(&sql);
        self.handle.block_on(answered(asked))
    }
}

/// A value on its way from or to PostgreSQL.
#[derive(Debug)]
struct Cell(Value);

impl Cell {
    fn of(value: &Value) -> Self {
        Self(match value {
            Value::Text(text) => Value::Text(text.replace('\0', "")),
            other => other.clone(),
        })
    }
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (&self.0, ty) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Integer(number), &Type::BOOL) => out.put_u8(u8::from(*number != 0)),
            (Value::Integer(number), &Type::INT4) => out.put_i32(i32::try_from(*number)?),
            (Value::Integer(number), &Type::INT8) => out.put_i64(*number),
            (Value::Text(text), &Type::TEXT | &Type::VARCHAR | &Type::JSON) => {
                out.put_slice(text.as_bytes());
            }
            (value, ty) => return Err(format!("{value:?} as {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(match *ty {
            Type::BOOL => Value::Integer(bool::from_sql(ty, raw)?.into()),
            Type::INT4 => Value::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => Value::Integer(i64::from_sql(ty, raw)?),
            Type::TEXT | Type::VARCHAR | Type::JSON => {
                Value::Text(std::str::from_utf8(raw)?.to_owned())
            }
            _ => return Err(format!("a column of type {ty}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// TLS as every other call of Gatepost speaks it.
#[derive(Clone)]
struct Tls(Arc<rustls::ClientConfig>);

struct Named(Tls, ServerName<'static>);

struct Encrypted(tokio_rustls::client::TlsStream<Socket>);

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Named;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Named, Self::Error> {
        Ok(Named(self.clone(), ServerName::try_from(host.to_owned())?))
    }
}

impl TlsConnect<Socket> for Named {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        let connector = tokio_rustls::TlsConnector::from(self.0.0);
        Box::pin(async move { connector.connect(self.1, stream).await.map(Encrypted) })
    }
}

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
