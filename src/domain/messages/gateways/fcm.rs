//! Push by Firebase Cloud Messaging (HTTP v1). The service account's key signs a request for an access
//! token (RFC 7523), which is kept in memory for as long as it is good.

use super::{Attempt, http};
use crate::{
    core::outgoing::{Client, Reach, Request, check_url},
    domain::messages::stored::SendOutcome,
    types::{
        Timestamp,
        error::{Error, Result},
        secret,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rustls::{
    SignatureScheme,
    pki_types::{PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

const ADDRESS: &str = "https://fcm.googleapis.com";
const TOKEN_ADDRESS: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/firebase.messaging";
/// The life of the access token that is asked for, in seconds.
const TOKEN_LIFE_S: i64 = 3_600;
/// An access token is not used any more when it ends so soon, in milliseconds.
const TOKEN_SPARE_MS: i64 = 60_000;

/// A Firebase project. The service account's key, as Google gives it out (JSON), is the secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fcm {
    /// The project's id; the service account's own unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The address of FCM; Google's unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A service account. Not to be shown: it has no `Debug` on purpose.
#[derive(serde::Deserialize)]
pub(super) struct Account {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: Option<String>,
    #[serde(default)]
    project_id: Option<String>,
    #[serde(default)]
    token_uri: Option<String>,
}

/// Access tokens that are good still, by the account they are of.
#[derive(Default)]
pub(in crate::domain::messages) struct Tokens(Mutex<Option<(secret::Digest, String, Timestamp)>>);

impl Fcm {
    pub(super) fn check(&self, reach: Reach) -> Result<()> {
        if let Some(project) = &self.project {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
            if project.is_empty() || !project.bytes().all(is_plain) {
                return Err(Error::field(
                    "project",
                    "must be the id of a Firebase project, such as summit-2026",
                ));
            }
        }
        self.url
            .as_ref()
            .map_or(Ok(()), |url| check_url("url", url, reach))
    }

    pub(super) fn destination(&self) -> String {
        self.address().to_ascii_lowercase()
    }

    fn address(&self) -> &str {
        self.url.as_deref().unwrap_or(ADDRESS).trim_end_matches('/')
    }
}

impl Account {
    /// Reads the key that Google gives out.
    pub(super) fn read(text: &str) -> Result<Self> {
        let account: Self = serde_json::from_str(text).map_err(|_| {
            Error::field(
                "secret",
                "must be a service account's key as Google gives it out: JSON with client_email and private_key",
            )
        })?;
        account.sign(b"")?;
        if let Some(url) = &account.token_uri {
            // What it may not reach is judged when it is called.
            check_url("secret.token_uri", url, Reach::Local)?;
        }
        Ok(account)
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>> {
        let wrong = || Error::field("secret", "its private_key is no RSA key");
        let key =
            PrivateKeyDer::from_pem_slice(self.private_key.as_bytes()).map_err(|_| wrong())?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key).map_err(|_| wrong())?;
        let signer = key
            .choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256])
            .ok_or_else(wrong)?;
        signer.sign(text).map_err(|_| wrong())
    }

    /// The request for an access token: a JSON Web Token, signed (RS256).
    fn assertion(&self, now_s: i64) -> Result<String> {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let mut header = json!({"alg": "RS256", "typ": "JWT"});
        if let Some(id) = &self.private_key_id {
            header["kid"] = id.as_str().into();
        }
        let claims = json!({
            "iss": self.client_email, "scope": SCOPE, "aud": self.token_url(),
            "iat": now_s, "exp": now_s + TOKEN_LIFE_S,
        });
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = URL_SAFE_NO_PAD.encode(self.sign(signed.as_bytes())?);
        Ok(format!("{signed}.{signature}"))
    }

    fn token_url(&self) -> &str {
        self.token_uri.as_deref().unwrap_or(TOKEN_ADDRESS)
    }
}

/// Gives a message to FCM, for one app.
pub(super) async fn send(fcm: &Fcm, attempt: &Attempt<'_>, tokens: &Tokens) -> SendOutcome {
    let Some(secret) = attempt.secret else {
        return SendOutcome::Down("the gateway has no service account yet".to_owned());
    };
    let account = match Account::read(secret) {
        Ok(account) => account,
        Err(cause) => return SendOutcome::Down(cause.to_string()),
    };
    let Some(project) = fcm.project.as_ref().or(account.project_id.as_ref()) else {
        return SendOutcome::Down("the gateway has no project yet".to_owned());
    };
    let token = match tokens.get(&account, secret, attempt.client).await {
        Ok(token) => token,
        // Without a token nothing can have been sent.
        Err(why) => return SendOutcome::Down(why),
    };
    let due = attempt.due;
    let mut notification = json!({"body": due.body});
    if let Some(title) = &due.subject {
        notification["title"] = title.as_str().into();
    }
    let body = json!({"message": {"token": due.address, "notification": notification}});
    let url = format!("{}/v1/projects/{project}/messages:send", fcm.address());
    let request = Request::post(url, "application/json", body.to_string())
        .header("Authorization", format!("Bearer {token}"));
    match attempt.client.send(request).await {
        Ok(answer) => {
            if answer.status == 401 {
                tokens.forget().await;
            }
            match (answer.status, http::judge(&answer, None)) {
                // It is gone from that phone, or of another project.
                (404, _) => {
                    SendOutcome::Never("the app is not there any more (UNREGISTERED)".to_owned())
                }
                (_, outcome) => outcome,
            }
        }
        Err(failure) => http::unanswered(failure),
    }
}

impl Tokens {
    async fn get(
        &self,
        account: &Account,
        secret: &str,
        client: &Client,
    ) -> Result<String, String> {
        let digest = secret::digest(secret.as_bytes());
        let mut kept = self.0.lock().await;
        let now = Timestamp::now();
        if let Some((of, token, until)) = &*kept
            && *of == digest
            && until.0 > now.0
        {
            return Ok(token.clone());
        }
        let (token, life_s) = ask(account, client, now.0 / 1_000).await?;
        let until = Timestamp(now.0 + life_s * 1_000 - TOKEN_SPARE_MS);
        *kept = Some((digest, token.clone(), until));
        Ok(token)
    }

    async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

async fn ask(account: &Account, client: &Client, now_s: i64) -> Result<(String, i64), String> {
    let assertion = account
        .assertion(now_s)
        .map_err(|cause| cause.to_string())?;
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        .append_pair("assertion", &assertion)
        .finish();
    let request = Request::post(
        account.token_url(),
        "application/x-www-form-urlencoded",
        body,
    );
    let answer = client
        .send(request)
        .await
        .map_err(|failure| format!("Google gives no access token: {failure}"))?;
    if answer.status != 200 {
        return Err(format!(
            "Google gives no access token ({}); is the service account's key still good, and this machine's clock right?",
            answer.status
        ));
    }
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let token = said["access_token"]
        .as_str()
        .ok_or("Google's answer has no access token")?;
    let life_s = said["expires_in"].as_i64().unwrap_or(TOKEN_LIFE_S);
    Ok((token.to_owned(), life_s.clamp(0, TOKEN_LIFE_S)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of no account.
    const KEY: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/gatepost/comms/account.pem"
    ));

    fn account(key: &str) -> String {
        json!({"client_email": "push@summit.example", "private_key": key, "private_key_id": "k1"})
            .to_string()
    }

    #[test]
    fn the_signature_is_what_others_make_of_the_same_key() {
        let account = Account::read(&account(KEY)).unwrap();
        // openssl dgst -sha256 -sign account.pem
        let signature = account.sign(b"header.claims").unwrap();
        assert_eq!(
            URL_SAFE_NO_PAD.encode(signature),
            "K6mwUKPcPJXPmxOIVwHuIXC9JYD1XY31Rpi-8Aoc9LcjCahhxeW_-0WlxtlIE4ew7ZV374p1Q-fHu7RELsfnXRk9sYpx9xR7KXqUqeitylMHDh3S6ls0ssC7S4tNzxtIfwVMkJJRobR2EEIgkt9990VWRKVg0VlgY_uIVorFlIUronN-WAoNWi1a0wqtnewrj2AcMG8AJqynoHNHsqpDx-Q67GAMDz9_mirpiVuoNoyhFY8olOLjiX6B4j5Xr7hHGlqqLEuVDahuz1BVADaGz-nF6yErazVIsFXQGbq7vG_zaprxCRM1uB49y7BOdmbTmYsDAQBSZJU7G1lhIOU2WQ"
        );
        let assertion = account.assertion(1_800_000_000).unwrap();
        let parts: Vec<Value> = assertion
            .split('.')
            .take(2)
            .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
            .collect();
        assert_eq!(parts[0], json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
        assert_eq!(parts[1]["aud"], TOKEN_ADDRESS);
        assert_eq!(parts[1]["exp"], 1_800_003_600);
    }

    #[test]
    fn what_is_no_account_is_refused_without_a_word_of_it() {
        let half = KEY.replace("BEGIN", "BEG").replace("END", "EN");
        for text in ["", "{}", "hunter2", &account("hunter2"), &account(&half)] {
            let told = Account::read(text).err().unwrap().to_string();
            assert!(!told.contains("hunter2") && !told.contains("MII"), "{told}");
        }
    }
}
