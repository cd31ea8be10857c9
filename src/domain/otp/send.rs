//! Making a code and sending it.

use super::LIFE_S;
use crate::{
    core::{Context, keyed::Key, settings::OneTimePasswords},
    db::Tx,
    domain::messages::{self, Channel, gateways},
    identity::{
        App,
        one_time::{self, DIGITS},
        password::{self, Hashed, Queue},
        secret_message_bodies::SecretMessageBodies,
        users,
    },
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

/// The time after which a request is answered, whoever asked: longer than anything takes that depends on who it is.
const ANSWERED_AFTER: Duration = Duration::from_millis(300);
/// Codes that ended which are removed at each new one.
const PURGED_AT_ONCE: i64 = 20;

/// The origin of a request for a code.
#[derive(Debug, Clone, Copy)]
pub struct Asker {
    pub address: IpAddr,
}

/// Sends a code to an e-mail address, if whoever has it may have one; the answer is the same if not.
///
/// # Errors
/// [`Kind::Invalid`] for what is no e-mail address; [`Kind::Forbidden`] when codes are switched off;
/// [`Kind::TooManyAttempts`]; [`Kind::NotSetUp`] where no e-mail leaves; [`Kind::Unavailable`] when the
/// store cannot take it.
pub async fn send(app: &App, ctx: Context, email: &str, asker: Asker) -> Result<()> {
    let begun = tokio::time::Instant::now();
    if ctx.settings.one_time_passwords == OneTimePasswords::Off {
        return Err(Error::new(
            Kind::Forbidden,
            "one-time passwords are switched off; an administrator can allow them",
        ));
    }
    users::check_email(email)?;
    let leaves = |connection: &Connection| gateways::find(connection, Channel::Email);
    if app.store.look_up(leaves)?.is_none() {
        return Err(Error::new(
            Kind::NotSetUp,
            "codes go by e-mail, and no gateway for e-mail is set up; an administrator can do that",
        ));
    }
    app.otp_rate_limiter
        .ask(email, ctx.client, asker.address, Instant::now())?;
    let code = fresh()?;
    let hashed = password::permit(Queue::Api)
        .await?
        .hash_code(code.clone())
        .await?;
    let (email, of_write) = (email.to_owned(), app.clone());
    let written = app
        .store
        .write(move |tx| {
            keep(
                tx,
                &ctx,
                &of_write.secret_message_bodies,
                &email,
                &code,
                &hashed,
            )
        })
        .await;
    tokio::time::sleep_until(begun + ANSWERED_AFTER).await;
    written
}

/// A code, every one as likely as any other.
fn fresh() -> Result<String> {
    let all = 10_u32.pow(u32::try_from(DIGITS).map_err(Error::defect)?);
    // Of the numbers there are, the last few would make some codes likelier.
    let even = u32::MAX - u32::MAX % all;
    loop {
        let number = getrandom::u32().map_err(Error::defect)?;
        if number < even {
            return Ok(format!("{:0DIGITS$}", number % all));
        }
    }
}

fn keep(
    tx: &Tx<'_>,
    ctx: &Context,
    secret_message_bodies: &SecretMessageBodies,
    email: &str,
    code: &str,
    hashed: &Hashed,
) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM one_time_passwords WHERE address IN
             (SELECT address FROM one_time_passwords WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
    )?
    .execute(params![tx.now(), PURGED_AT_ONCE])?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO one_time_passwords (address, code_hash, expires_at) VALUES (?1, ?2, ?3)",
    )?
    .execute(params![
        Key::find_or_make(tx)?.hash_address(email)?,
        hashed.as_str(),
        Timestamp(tx.now().0 + LIFE_S * 1000),
    ])?;
    let Some(to) = recipient(tx, ctx, email)? else {
        return Ok(());
    };
    let name = ctx.settings.name();
    let subject = format!("Your code for {name}");
    let text = format!(
        "Your code for {name} is\n\n    {code}\n\nIt is good for {} minutes, once, in place of a password. If you asked more than once, \
         only the newest code counts.\n\nIf it was not you who asked, you need not do anything: without this code nobody gets in.\n",
        LIFE_S / 60
    );
    messages::enqueue_secret(tx, ctx, secret_message_bodies, &to, &subject, text)?;
    Ok(())
}

/// The address that the code goes to, as we have it: whoever typed it may have typed another that only
/// looks the same.
fn recipient(tx: &Tx<'_>, ctx: &Context, email: &str) -> Result<Option<String>> {
    let user: Option<String> = tx
        .prepare_cached("SELECT email FROM users WHERE email = ?1")?
        .query_row([email], |row| row.get(0))
        .optional()?;
    if user.is_some() {
        return Ok(user);
    }
    Ok(match ctx.settings.one_time_passwords {
        OneTimePasswords::Off | OneTimePasswords::Users => None,
        OneTimePasswords::Delegates => one_time::only_delegate(tx, email)?.map(|found| found.1),
        OneTimePasswords::Anyone => Some(email.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_six_digits_and_is_hardly_ever_the_same() {
        let codes: std::collections::BTreeSet<String> =
            (0..100).map(|_| fresh().unwrap()).collect();
        assert!(codes.iter().all(|code| one_time::is_code(code)));
        assert!(codes.len() > 95);
    }
}
