//! Setting an authenticator app up, and its recovery codes. The secret is kept in memory for the
//! session that asked for it until a code confirms it; its picture has an address of its own, so that
//! no address has the secret.

use crate::admin::prelude::*;
use crate::{
    admin::sign_in,
    identity::second_factor::{self as factor, Shared},
};

pub(super) fn routes() -> Routes {
    Routes::access(VIEWER)
        .get("/console/account/second-factor", show)
        .post("/console/account/second-factor", begin)
        .get("/console/account/second-factor/picture", picture)
        .post("/console/account/second-factor/confirm", confirm)
        .post("/console/account/second-factor/off", turn_off)
        .post("/console/account/recovery", renew)
        .get("/console/account/recovery", codes)
        .post("/console/account/recovery/download", download)
}

#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct Page {
    layout: Layout,
    /// The secret to type, while an app is being set up.
    secret: Option<String>,
    on: bool,
    now: Timestamp,
}

impl Page {
    fn read(request: &RequestContext) -> Result<Self> {
        let current_user = request.current_user()?;
        let on = request.look_up(|connection| factor::is_on(connection, current_user.user))?;
        let shared = request.console.pairing.look(current_user).filter(|_| !on);
        Ok(Self {
            layout: request.layout("Authenticator app", Some(Area::Account)),
            secret: shared.map(|shared| shared.text()).transpose()?,
            on,
            now: Timestamp::now(),
        })
    }
}

async fn show(request: RequestContext) -> Result<Response> {
    answer::page(&Page::read(&request)?)
}

async fn check_password(request: &RequestContext) -> Result<()> {
    let password = request.form.sent("password").unwrap_or_default();
    sign_in::check_own_password(request, password).await
}

async fn begin(request: RequestContext) -> Result<Response> {
    if let Err(error) = check_password(&request).await {
        return request.failed(error, show).await;
    }
    let current_user = request.current_user()?;
    request.console.pairing.keep(current_user, Shared::fresh()?);
    Ok(answer::go("/console/account/second-factor"))
}

/// The QR code that an app reads, while it is being set up.
async fn picture(request: RequestContext) -> Result<Response> {
    let current_user = request.current_user()?;
    let shared = request.console.pairing.look(current_user).ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "no authenticator app is being set up; begin once more",
        )
    })?;
    let address = shared.address(request.console.settings().name(), &current_user.email)?;
    answer::qr(&address)
}

async fn confirm(request: RequestContext) -> Result<Response> {
    match confirmed(&request).await {
        Ok(codes) => {
            let current_user = request.current_user()?;
            request.console.pairing.take(current_user);
            request.console.codes.keep(current_user, codes);
            Ok(answer::go("/console/account/recovery"))
        }
        Err(error) => request.failed(error, show).await,
    }
}

async fn confirmed(request: &RequestContext) -> Result<Vec<String>> {
    let current_user = request.current_user()?;
    let shared = request.console.pairing.look(current_user).ok_or_else(|| {
        Error::invalid("that took too long; begin once more, and remove the entry from your app")
    })?;
    let user = current_user.user;
    let code = request.form.text("code").to_owned();
    let codes = request
        .write(move |tx, ctx| factor::confirm(tx, ctx, user, &shared, &code))
        .await?;
    codes.ok_or_else(|| {
        Error::invalid(
            "this code is wrong; codes last half a minute, and the clocks of your phone and of this \
             server must agree",
        )
    })
}

async fn turn_off(request: RequestContext) -> Result<Response> {
    if let Err(error) = check_password(&request).await {
        return request.failed(error, super::show).await;
    }
    let user = request.current_user()?.user;
    let remove = request.write(move |tx, ctx| factor::remove(tx, ctx, user));
    remove.await?;
    request.done(
        "Authenticator app turned off. Your password alone signs you in.",
        "/console/account",
    )
}

async fn renew(request: RequestContext) -> Result<Response> {
    if let Err(error) = check_password(&request).await {
        return request.failed(error, super::show).await;
    }
    let user = request.current_user()?.user;
    let renewed = request
        .write(move |tx, ctx| factor::renew_codes(tx, ctx, user))
        .await;
    match renewed {
        Ok(codes) => {
            request.console.codes.keep(request.current_user()?, codes);
            Ok(answer::go("/console/account/recovery"))
        }
        Err(error) => request.failed(error, super::show).await,
    }
}

#[derive(Template)]
#[template(path = "account/recovery.html")]
struct Codes {
    layout: Layout,
    codes: Option<Vec<String>>,
}

/// Shows new recovery codes, once: when the page is asked for again, they are gone.
async fn codes(request: RequestContext) -> Result<Response> {
    let codes = request.console.codes.take(request.current_user()?);
    answer::page(&Codes {
        layout: request.layout("Recovery codes", Some(Area::Account)),
        codes,
    })
}

/// Gives the codes of the page back as a file: the page sends them, as nobody else has them.
async fn download(request: RequestContext) -> Result<Response> {
    let codes: Vec<String> = request
        .form
        .all("code")
        .take(factor::RECOVERY_CODES)
        .map(ToOwned::to_owned)
        .collect();
    let user = request.current_user()?.user;
    let ours = request.look_up(|connection| factor::are_codes(connection, user, &codes))?;
    if !ours || codes.is_empty() {
        return Err(Error::invalid(
            "these are not your current recovery codes; create new ones in your account",
        ));
    }
    let text = format!(
        "Recovery codes of {} at {}\r\nEach signs you in once, in place of a code of the app.\r\n\r\n{}\r\n",
        request.current_user()?.email,
        request.console.settings().name(),
        codes.join("\r\n")
    );
    Ok(answer::download(
        "recovery-codes.txt",
        "text/plain; charset=utf-8",
        text,
    ))
}
