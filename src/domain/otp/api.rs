//! `POST /otp/send` (spec: Authentication, rule 2).

use super::{Asker, LIFE_S, send};
use crate::{
    identity::{App, Granted, roles::AnyToken},
    web::{
        Answer, Body, ClientAddress, Outcome, RequestId, Tag,
        schema::{Described, Properties, bounded_text, integer, plain},
    },
};
use poem::{FromRequest, Request, RequestBody};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;

/// The person who wants a code.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneTimePasswordInput {
    email: String,
}

impl Described for OneTimePasswordInput {
    const NAME: &'static str = "OneTimePasswordInput";

    fn schema() -> MetaSchema {
        plain("object", "Who wants a one-time password.")
            .required("email", bounded_text(0, 254, "Where the code goes."))
            .with_example(json!({"email": "ada@example.org"}))
    }
}

pub struct OneTimePassword;

impl Described for OneTimePassword {
    const NAME: &'static str = "OneTimePassword";

    fn schema() -> MetaSchema {
        let about = "If a user with this address may sign in, a code is on its way.";
        plain("object", about)
            .required("expiresIn", integer("Seconds for which a code is good."))
            .with_example(json!({"expiresIn": LIFE_S}))
    }
}

impl<'a> FromRequest<'a> for Asker {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        Ok(Self {
            address: ClientAddress::of(request),
        })
    }
}

/// The endpoint.
pub struct OtpApi {
    /// The application.
    pub app: App,
}

#[OpenApi(tag = "Tag::Authentication")]
impl OtpApi {
    /// Send a one-time password
    ///
    /// Six digits by e-mail, in place of the password of a `password` grant; good for ten minutes, five
    /// guesses and one sign-in. The newest counts. The answer does not tell whether anybody has the
    /// address. Who may have one is a setting (`oneTimePasswords`); whoever is no user yet becomes one
    /// with the sign-in. Five in ten minutes, and 25 a day, for one e-mail address from one network address, 250
    /// a day from all; 60 a minute from one network address, 300 by one client.
    ///
    /// Needs a valid token, such as the app's own. Also at `/api/otp/send`.
    #[oai(
        path = "/otp/send",
        method = "post",
        operation_id = "sendOneTimePassword"
    )]
    async fn send(
        &self,
        caller: Granted<AnyToken>,
        request_id: RequestId,
        asker: Asker,
        body: Body<OneTimePasswordInput>,
    ) -> Outcome<Answer<OneTimePassword>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let OneTimePasswordInput { email } = body.parse()?;
        send(&self.app, ctx, email.trim(), asker).await?;
        Ok(Answer::of(&json!({"expiresIn": LIFE_S}).to_string()))
    }
}
