//! `POST /delegate/send-comm` (spec: Delegate endpoints, rule 7).

use super::send::{DirectSender, SendComm};
use crate::{
    identity::{App, Granted, roles::SendMessages},
    types::DelegateId,
    web::{
        Answer, Body, Outcome, RequestId,
        schema::{Described, example, id, inline, nullable, object, plain, text},
    },
};
use poem_openapi::{OpenApi, registry::MetaSchema};
use serde_json::json;

/// What is to be sent, and to whom.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendCommInput {
    #[serde(default)]
    sms_code: Option<String>,
    #[serde(default)]
    email_id: Option<i64>,
    delegate_id: i64,
}

impl Described for SendCommInput {
    const NAME: &'static str = "SendCommInput";

    fn schema() -> MetaSchema {
        example(
            object(
                "A text, an e-mail, or both.",
                &["delegate_id"],
                vec![
                    (
                        "sms_code",
                        inline(nullable(text("The slug of a text's template."))),
                    ),
                    (
                        "email_id",
                        inline(nullable(id("The id of an e-mail's template."))),
                    ),
                    ("delegate_id", inline(id("Whom it is for."))),
                ],
            ),
            json!({"sms_code": "order-cleared", "delegate_id": 7}),
        )
    }
}

/// What became of it.
pub struct SentComm;

impl Described for SentComm {
    const NAME: &'static str = "SentComm";

    fn schema() -> MetaSchema {
        example(
            object(
                "What was sent. Final: nothing of it is tried again later.",
                &["sms_sent", "email_sent"],
                vec![
                    (
                        "sms_sent",
                        inline(plain("boolean", "The gateway took the text.")),
                    ),
                    (
                        "email_sent",
                        inline(plain("boolean", "The mail server took the e-mail.")),
                    ),
                ],
            ),
            json!({"sms_sent": true, "email_sent": false}),
        )
    }
}

/// The endpoint.
pub struct CommsApi {
    app: App,
    sender: DirectSender,
}

impl CommsApi {
    /// The endpoint of an application.
    #[must_use]
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
        let asked = SendComm {
            sms_code: input.sms_code,
            email_id: input.email_id,
            delegate: DelegateId(input.delegate_id),
        };
        let sent = self.sender.send(ctx, asked).await?;
        Ok(Answer::of(
            &json!({"sms_sent": sent.sms, "email_sent": sent.email}).to_string(),
        ))
    }
}
