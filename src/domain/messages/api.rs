//! `POST /delegate/send-comm` (spec: Delegate endpoints, rule 7).

use super::send::{DirectSender, SendCommInput, SentComm};
use crate::{
    identity::{App, Granted, roles::SendMessages},
    web::{
        Answer, Body, Outcome, RequestId,
        schema::{Described, Properties, id, nullable, plain, text},
    },
};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;

impl Described for SendCommInput {
    const NAME: &'static str = "SendCommInput";

    fn schema() -> MetaSchema {
        plain("object", "A text, an e-mail, or both.")
            .optional("sms_code", nullable(text("The slug of a text's template.")))
            .optional("email_id", nullable(id("The id of an e-mail's template.")))
            .required("delegate_id", id("Whom it is for."))
            .with_example(json!({"sms_code": "order-cleared", "delegate_id": 7}))
    }
}

impl Described for SentComm {
    const NAME: &'static str = "SentComm";

    fn schema() -> MetaSchema {
        let email = plain("boolean", "The mail server accepted the e-mail.");
        plain(
            "object",
            "What was sent. Final: nothing is tried again later.",
        )
        .required(
            "sms_sent",
            plain("boolean", "The gateway accepted the text."),
        )
        .required("email_sent", email)
        .with_example(json!({"sms_sent": true, "email_sent": false}))
    }
}

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
        Ok(Answer::of(&json!(sent).to_string()))
    }
}
