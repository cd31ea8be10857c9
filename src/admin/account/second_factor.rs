//! Setting an authenticator app up, and its recovery codes. The secret is kept in memory for the
//! session that asked for it until a code confirms it; its picture has an address of its own, so that
//! no address has the secret.

use super::{Part, again};
use crate::{
    admin::{Area, Route, Shell, Visit, answer, route, sign_in},
    identity::second_factor::{self as factor, Shared},
    types::{
        Timestamp,
        error::{Error, Kind, Result},
    },
};
use askama::Template;
use poem::Response;

pub(super) fn routes() -> Vec<Route> {
    let own = route::VIEWER;
    vec![
        Route::get("/console/account/second-factor", own, show),
        Route::post("/console/account/second-factor", own, begin),
        Route::get("/console/account/second-factor/picture", own, picture),
        Route::post("/console/account/second-factor/confirm", own, confirm),
        Route::post("/console/account/second-factor/off", own, turn_off),
        Route::post("/console/account/recovery", own, renew),
        Route::get("/console/account/recovery", own, codes),
        Route::post("/console/account/recovery/download", own, download),
    ]
}

#[derive(Template)]
#[template(path = "account/second_factor.html")]
struct Page {
    shell: Shell,
    /// The secret to type, while an app is being set up.
    secret: Option<String>,
    on: bool,
    now: Timestamp,
    failure: Option<String>,
}

impl Page {
    fn read(visit: &Visit, failure: Option<String>) -> Result<Self> {
        let staff = visit.staff()?;
        let on = visit
            .console
            .store
            .look_up(|connection| factor::is_on(connection, staff.user))?;
        let shared = visit.console.pairing.look(staff).filter(|_| !on);
        Ok(Self {
            shell: visit.shell("Authenticator app", Some(Area::Account)),
            secret: shared.map(|shared| shared.text()).transpose()?,
            on,
            now: Timestamp::now(),
            failure,
        })
    }
}

async fn show(visit: Visit) -> Result<Response> {
    answer::page(&Page::read(&visit, None)?)
}

/// What was wrong, on this page again; errors that are not the user's own go on.
fn wrong(visit: &Visit, error: Error) -> Result<Response> {
    if !matches!(error.kind, Kind::Invalid | Kind::TooManyAttempts { .. }) {
        return Err(error);
    }
    let failure = answer::sentence(&error.message);
    answer::form_again(&Page::read(visit, Some(failure))?)
}

fn sent_password(visit: &Visit) -> String {
    visit.form.sent("password").unwrap_or_default().to_owned()
}

async fn begin(visit: Visit) -> Result<Response> {
    if let Err(error) = sign_in::check_own_password(&visit, sent_password(&visit)).await {
        return wrong(&visit, error);
    }
    let staff = visit.staff()?;
    visit.console.pairing.keep(staff, Shared::fresh()?);
    Ok(answer::go("/console/account/second-factor"))
}

/// The QR code that an app reads, while it is being set up.
async fn picture(visit: Visit) -> Result<Response> {
    let staff = visit.staff()?;
    let shared = visit.console.pairing.look(staff).ok_or_else(|| {
        Error::new(
            Kind::NoSuchPath,
            "no authenticator app is being set up; begin once more",
        )
    })?;
    let address = shared.address(visit.console.settings().name(), &staff.email)?;
    answer::qr(&address)
}

async fn confirm(visit: Visit) -> Result<Response> {
    match confirmed(&visit).await {
        Ok(codes) => {
            let staff = visit.staff()?;
            visit.console.pairing.take(staff);
            visit.console.codes.keep(staff, codes);
            Ok(answer::go("/console/account/recovery"))
        }
        Err(error) => wrong(&visit, error),
    }
}

async fn confirmed(visit: &Visit) -> Result<Vec<String>> {
    let staff = visit.staff()?;
    let shared = visit.console.pairing.look(staff).ok_or_else(|| {
        Error::invalid("that took too long; begin once more, and remove the entry from your app")
    })?;
    let (user, ctx) = (staff.user, visit.context());
    let code = visit.form.text("code").to_owned();
    let codes = visit
        .console
        .store
        .write(move |tx| factor::confirm(tx, &ctx, user, &shared, &code))
        .await?;
    codes.ok_or_else(|| {
        Error::invalid(
            "this code is wrong; codes last half a minute, and the clocks of your phone and of this \
             server must agree",
        )
    })
}

async fn turn_off(visit: Visit) -> Result<Response> {
    if let Err(error) = sign_in::check_own_password(&visit, sent_password(&visit)).await {
        return again(&visit, Part::Off, error);
    }
    let (user, ctx) = (visit.staff()?.user, visit.context());
    let store = &visit.console.store;
    store
        .write(move |tx| factor::remove(tx, &ctx, user))
        .await?;
    visit.flash("The authenticator app is off: your password alone signs you in.");
    Ok(answer::go("/console/account"))
}

async fn renew(visit: Visit) -> Result<Response> {
    if let Err(error) = sign_in::check_own_password(&visit, sent_password(&visit)).await {
        return again(&visit, Part::Codes, error);
    }
    let (user, ctx) = (visit.staff()?.user, visit.context());
    let renewed = visit
        .console
        .store
        .write(move |tx| factor::renew_codes(tx, &ctx, user))
        .await;
    match renewed {
        Ok(codes) => {
            visit.console.codes.keep(visit.staff()?, codes);
            Ok(answer::go("/console/account/recovery"))
        }
        Err(error) => again(&visit, Part::Codes, error),
    }
}

#[derive(Template)]
#[template(path = "account/recovery.html")]
struct Codes {
    shell: Shell,
    codes: Option<Vec<String>>,
}

/// Shows new recovery codes, once: when the page is asked for again, they are gone.
async fn codes(visit: Visit) -> Result<Response> {
    let codes = visit.console.codes.take(visit.staff()?);
    answer::page(&Codes {
        shell: visit.shell("Recovery codes", Some(Area::Account)),
        codes,
    })
}

/// Gives the codes of the page back as a file: the page sends them, as nobody else has them.
async fn download(visit: Visit) -> Result<Response> {
    let codes: Vec<String> = visit
        .form
        .all("code")
        .take(factor::RECOVERY_CODES)
        .map(ToOwned::to_owned)
        .collect();
    let user = visit.staff()?.user;
    let ours = visit
        .console
        .store
        .look_up(|connection| factor::are_codes(connection, user, &codes))?;
    if !ours || codes.is_empty() {
        return Err(Error::invalid(
            "these are not your present recovery codes; make new ones in your account",
        ));
    }
    let text = format!(
        "Recovery codes of {} at {}\r\nEach signs you in once, in place of a code of the app.\r\n\r\n{}\r\n",
        visit.staff()?.email,
        visit.console.settings().name(),
        codes.join("\r\n")
    );
    Ok(answer::download(
        "recovery-codes.txt",
        "text/plain; charset=utf-8",
        text,
    ))
}
