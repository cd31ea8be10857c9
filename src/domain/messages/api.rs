//! `POST /delegate/send-comm` (spec: Delegate endpoints, rule 7).

use super::send::{DirectSender, SendCommInput, SentComm};
use crate::{
    identity::{App, Granted, roles::SendMessages},
    web::{Answer, Body, Outcome, RequestId},
};
use poem_openapi::OpenApi;

/// The endpoint.
pub struct CommsApi {
    app: App,
    sender: DirectSender,
}

impl CommsApi {
    /// The endpoint of an application.
    pub fn new(app: App) -> Self {
        Self {
            sender: DirectSender::new(app.clone()),
            app,
        }
    }
}

#[OpenApi(tag = "crate::web::Tag::Delegates")]
impl CommsApi {
    /// Send a delegate a message
    ///
    /// Sends a text, an e-mail, or both, by templates of the console, and waits for the outcome, 10
    /// seconds at the most. A flag is `false` when it was not asked for, when messages to delegates are
    /// switched off, when the delegate's phone or e-mail address cannot be used, and when the gateway
    /// is down or does not let us sign in; the console's outbox says why. Needs
    /// `ROLE_OAUTH2_COMM_SEND`.
    #[oai(
        path = "/delegate/send-comm",
        method = "post",
        operation_id = "sendComm"
    )]
    async fn send(
        &self,
        caller: Granted<SendMessages>,
        request_id: RequestId,
        body: Body<SendCommInput>,
    ) -> Outcome<Answer<SentComm>> {
        let ctx = self.app.context(&caller, request_id.as_str());
        let input = body.parse()?;
        let sent = self.sender.send(ctx, input).await?;
        Ok(Answer::json(&sent))
    }
}
