//! The session of a user who is signed in: a cookie with a random value, whose SHA-256 stands in the file, so that a
//! session can be listed and ended from anywhere and ends at once.

use crate::admin::prelude::*;
use crate::{
    core::keyed::Key,
    identity::sessions::{self, LONGEST_MS},
    types::secret,
    web::request::LANGUAGE,
};
use poem::http::HeaderValue;
use std::path::Path;

/// The beginning of the cookie's name; the rest is the instance's, see [`cookie_name`].
const COOKIE: &str = "gatepost_console";
/// The time in which the use of a session is written down once.
const SEEN_EVERY_MS: i64 = 60 * 1000;
/// The time that a browser keeps a user's language, in seconds: a year.
const LANGUAGE_S: u32 = 365 * 24 * 60 * 60;

/// The visitor, where the request has the cookie of a session that goes on.
pub(super) fn of(request: &RequestContext) -> Result<Option<CurrentUser>> {
    let Some(cookie) = request.console.session_cookie()? else {
        return Ok(None);
    };
    let Some(token) = request
        .cookie(cookie)
        .filter(|token| secret::well_formed(token))
    else {
        return Ok(None);
    };
    let now = Timestamp::now();
    let found = request.look_up(|connection| sessions::find(connection, token, now))?;
    let Some(found) = found else {
        return Ok(None);
    };
    let session = found.session;
    // What an open page asks for by itself says nothing about whether somebody is there.
    let is_used = request.uri_path() != super::shell::CONTACT;
    if is_used && now.0 - found.seen_at.0 > SEEN_EVERY_MS {
        let console = request.console.clone();
        tokio::spawn(async move {
            let write = console.store.write(move |tx| sessions::touch(tx, session));
            if let Err(cause) = write.await {
                tracing::debug!("session: {cause}");
            }
        });
    }
    Ok(Some(CurrentUser {
        user: found.user,
        email: found.email,
        role: found.role,
        session,
        csrf: csrf(token),
    }))
}

/// Made from the cookie, which no other site can read.
fn csrf(token: &str) -> String {
    secret::hex(&secret::digest(format!("csrf {token}").as_bytes()))
}

/// The cookie's name on an instance. Cookies know no ports: two servers on one host would otherwise
/// sign each other's users out. The path is in it, too, since a copy of a file has the file's key.
pub(super) fn cookie_name(key: &Key, file: &Path) -> Result<String> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let hash = key.hash(format!("console cookie {}", file.display()).as_bytes())?;
    Ok(format!("{COOKIE}_{}", secret::hex(&hash[..4])))
}

/// The header that keeps a user's language in the browser, for its pages before anybody signs in, too; without one, the
/// browser's own counts.
pub(super) fn language_cookie(language: Option<&str>) -> Result<HeaderValue> {
    let kept_s = language.map_or(0, |_| LANGUAGE_S);
    let language = language.unwrap_or_default();
    let text = format!("{LANGUAGE}={language}; Path=/; SameSite=Lax; Max-Age={kept_s}");
    HeaderValue::from_str(&text).map_err(Error::defect)
}

/// The header that gives a browser its cookie, or takes it away.
pub(super) fn set_cookie(cookie: &str, token: Option<&str>, secure: bool) -> Result<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let text = match token {
        Some(token) => format!(
            "{cookie}={token}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={}{secure}",
            LONGEST_MS / 1000
        ),
        None => format!("{cookie}=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0{secure}"),
    };
    HeaderValue::from_str(&text).map_err(Error::defect)
}
