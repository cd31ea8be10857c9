//! `POST /otp/send` (spec: Authentication, rule 2).

use super::{Asker, LIFE_S, send};
use crate::{
    identity::{App, Granted, roles::AnyToken},
    web::{Answer, Body, ClientAddress, Outcome, RequestId, Tag},
};
use poem::{FromRequest, Request, RequestBody};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde_json::json;

/// A user who wants a one-time password.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({"email": "ada@example.org"}))]
pub struct OneTimePasswordInput {
    /// The address to which the code goes.
    #[schemars(length(max = 254))]
    email: String,
}

/// A code is on its way, if a user with this address may sign in.
#[derive(serde::Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = json!({"expiresIn": LIFE_S}))]
pub struct OneTimePassword {
    /// Seconds for which a code is good.
    expires_in: i64,
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
        Ok(Answer::json(&OneTimePassword { expires_in: LIFE_S }))
    }
}
