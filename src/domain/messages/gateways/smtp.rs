//! E-mail by SMTP (RFC 5321), one connection a message. The conversation is led step by step, so that
//! it is known how far it came: until the message is handed over nothing can have been accepted; from
//! then on only the server's own answer says.

use super::Attempt;
use crate::{
    core::outgoing::{Reach, WHOLE_MAX, judge},
    domain::messages::{
        address, pictures,
        stored::{Due, SendOutcome},
    },
    types::{
        error::{Error, Faults, Result},
        text::check_text,
    },
};
use lettre::{
    Message,
    message::{Attachment, Mailbox, MultiPart, SinglePart, header},
    transport::smtp::{
        Error as SmtpError,
        authentication::{Credentials, Mechanism},
        client::{AsyncSmtpConnection, Certificate, CertificateStore, TlsParameters},
        commands::{Data, Mail, Rcpt},
        extension::{ClientId, Extension, MailBodyParameter, MailParameter},
    },
};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};
use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};
use tokio::time::{Instant, timeout, timeout_at};

/// The longest time of connecting to one address.
const CONNECT_MAX: Duration = Duration::from_secs(4);
/// Addresses of a server that are tried.
const ADDRESSES_MAX: usize = 3;
/// The longest time of the goodbye, when everything is done.
const QUIT_MAX: Duration = Duration::from_secs(1);
/// The largest certificate that can be set, in bytes: some ten of them.
const CERTIFICATE_MAX_BYTES: usize = 32 << 10;

/// The name of what comes with an e-mail.
const PDF_NAME: &str = "certificate.pdf";

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    None,
    /// From the STARTTLS command on, which the server must know (mostly port 587).
    Starttls,
    /// From the start (mostly port 465).
    Tls,
}

/// A mail server.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Smtp {
    pub host: String,
    pub port: u16,
    pub security: Security,
    /// The user to sign in as; the password is the gateway's secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The sender of e-mails, such as `Summit <summit@example.org>`.
    pub from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Certificates (PEM) of which one is the server's own, or of the authority that signed it. They
    /// are trusted in place of what the operating system trusts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

impl Smtp {
    pub(super) fn check(&self) -> Result<()> {
        let mut faults = Faults::default();
        faults.take(self.check_host());
        if self.port == 0 {
            faults.take::<()>(Err(Error::field("port", "must be from 1 to 65535")));
        }
        faults.take(check_text("user", self.user.as_deref().unwrap_or_default()));
        faults.take(mailbox("from", &self.from));
        if let Some(reply_to) = &self.reply_to {
            faults.take(mailbox("replyTo", reply_to));
        }
        if let Some(certificate) = &self.certificate {
            faults.take(check_certificate(certificate));
        }
        faults.done()
    }

    fn check_host(&self) -> Result<()> {
        check_text("host", &self.host)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        if self.host.is_empty() || !self.host.bytes().all(is_plain) {
            return Err(Error::field(
                "host",
                "must be the mail server's name, such as mail.example.org",
            ));
        }
        Ok(())
    }
}

fn check_certificate(pem: &str) -> Result<()> {
    let wrong = |why: &str| Err(Error::field("certificate", why));
    if pem.len() > CERTIFICATE_MAX_BYTES {
        return wrong("too long");
    }
    // This is shown and exported.
    if pem.contains("PRIVATE KEY") {
        return wrong("must not contain a private key; that belongs on the mail server only");
    }
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    if found.is_empty() {
        return wrong("must be in PEM, from -----BEGIN CERTIFICATE----- on");
    }
    let mut trusted = RootCertStore::empty();
    for certificate in found {
        let added = match certificate {
            Ok(certificate) => trusted.add(certificate).map_err(|cause| cause.to_string()),
            Err(cause) => Err(cause.to_string()),
        };
        if let Err(cause) = added {
            return wrong(&format!("cannot be used: {cause}"));
        }
    }
    Ok(())
}

fn mailbox(name: &str, text: &str) -> Result<Mailbox> {
    let wrong = || {
        Error::field(
            name,
            "must be an e-mail address such as summit@example.org or Summit <summit@example.org>",
        )
    };
    let mailbox: Mailbox = text.trim().parse().map_err(|_| wrong())?;
    address::email(mailbox.email.as_ref()).map_err(|_| wrong())?;
    Ok(mailbox)
}

/// The message as it crosses the wire. Its Message-ID is that of the outbox's message, so that a
/// receiver recognises a duplicate.
fn compose(
    smtp: &Smtp,
    due: &Due,
    html: Option<String>,
    pdf: Option<&[u8]>,
) -> Result<(Mailbox, lettre::Address, Vec<u8>)> {
    let from = mailbox("from", &smtp.from)?;
    let to = address::email(&due.address)?;
    let id = format!(
        "<gatepost.{}.{}@{}>",
        due.created_at.0,
        due.id,
        from.email.domain()
    );
    let mut builder = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(due.subject.clone().unwrap_or_default())
        .message_id(Some(id))
        .date_now()
        .header(AutoSubmitted);
    if let Some(reply_to) = &smtp.reply_to {
        builder = builder.reply_to(mailbox("replyTo", reply_to)?);
    }
    let text = due.body.clone();
    let message = match (html, pdf) {
        (Some(html), None) => builder.multipart(alternatives(text, html)?),
        (None, None) => builder.singlepart(SinglePart::plain(text)),
        (html, Some(pdf)) => {
            let mixed = match html {
                Some(html) => MultiPart::mixed().multipart(alternatives(text, html)?),
                None => MultiPart::mixed().singlepart(SinglePart::plain(text)),
            };
            let kind = header::ContentType::parse("application/pdf").map_err(Error::defect)?;
            let part = Attachment::new(PDF_NAME.to_owned()).body(pdf.to_vec(), kind);
            builder.multipart(mixed.singlepart(part))
        }
    };
    let message = message.map_err(|cause| Error::invalid(format!("the e-mail: {cause}")))?;
    Ok((from, to, message.formatted()))
}

/// The text and the HTML, with the pictures that it shows.
fn alternatives(text: String, html: String) -> Result<MultiPart> {
    let pictures = pictures::of(&html);
    if pictures.is_empty() {
        return Ok(MultiPart::alternative_plain_html(text, html));
    }
    let mut related = MultiPart::related().singlepart(SinglePart::html(html));
    for picture in pictures {
        let kind = header::ContentType::parse("image/png").map_err(Error::defect)?;
        let part = Attachment::new_inline(picture.content_id().to_owned());
        related = related.singlepart(part.body(picture.png()?, kind));
    }
    let alternatives = MultiPart::alternative().singlepart(SinglePart::plain(text));
    Ok(alternatives.multipart(related))
}

/// Suppresses holiday notices and the like (RFC 3834).
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl header::Header for AutoSubmitted {
    fn name() -> header::HeaderName {
        header::HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> std::result::Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> header::HeaderValue {
        header::HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Gives a message to the server; ends within [`WHOLE_MAX`].
pub(super) async fn send(smtp: &Smtp, attempt: &Attempt<'_>, html: Option<String>) -> SendOutcome {
    let (from, to, text) = match compose(smtp, attempt.due, html, attempt.pdf) {
        Ok(composed) => composed,
        Err(cause) => return SendOutcome::Never(cause.to_string()),
    };
    let session = Session {
        smtp,
        password: attempt.secret,
        reach: attempt.reach,
        from: from.email,
        to,
        text,
    };
    let deadline = Instant::now() + WHOLE_MAX;
    let seconds = WHOLE_MAX.as_secs();
    let mut connection = match timeout_at(deadline, session.open()).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(why)) => return SendOutcome::Down(why),
        Err(_) => return no_answer(seconds),
    };
    let offered = timeout_at(deadline, session.offer(&mut connection)).await;
    let outcome = match offered {
        // From here on the server may have accepted it.
        Ok(Ok(())) => match timeout_at(deadline, connection.message(&session.text)).await {
            Ok(Ok(_)) => SendOutcome::Sent,
            Ok(Err(cause)) if cause.is_transient() => {
                SendOutcome::Later(said("does not take the message now", &cause))
            }
            Ok(Err(cause)) if cause.is_permanent() => {
                SendOutcome::Never(said("does not take the message", &cause))
            }
            Ok(Err(cause)) => {
                return SendOutcome::Unknown(said(
                    "was cut off after it was given the message",
                    &cause,
                ));
            }
            Err(_) => {
                return SendOutcome::Unknown(format!(
                    "the mail server took the message and did not answer for {seconds} s"
                ));
            }
        },
        Ok(Err(outcome)) => outcome,
        Err(_) => return no_answer(seconds),
    };
    // The outcome is certain, whether or not the server hears the goodbye.
    let _ = timeout(QUIT_MAX, connection.quit()).await;
    outcome
}

fn no_answer(seconds: u64) -> SendOutcome {
    SendOutcome::Down(format!("the mail server gave no answer within {seconds} s"))
}

/// One conversation.
struct Session<'a> {
    smtp: &'a Smtp,
    password: Option<&'a str>,
    reach: Reach,
    from: lettre::Address,
    to: lettre::Address,
    text: Vec<u8>,
}

impl Session<'_> {
    /// A connection that may be used: protected as wanted, and signed in.
    async fn open(&self) -> Result<AsyncSmtpConnection, String> {
        let hello = ClientId::default();
        let tls = || {
            self.tls()
                .map_err(|cause| format!("TLS cannot be set up on this machine: {cause}"))
        };
        let from_start = match self.smtp.security {
            Security::Tls => Some(tls()?),
            Security::Starttls | Security::None => None,
        };
        let mut failure = String::new();
        for address in self.addresses().await?.into_iter().take(ADDRESSES_MAX) {
            let connecting = AsyncSmtpConnection::connect_tokio1(
                address,
                Some(CONNECT_MAX),
                &hello,
                from_start.clone(),
                None,
            );
            match connecting.await {
                Ok(mut connection) => {
                    if self.smtp.security == Security::Starttls {
                        connection
                            .starttls(tls()?, &hello)
                            .await
                            .map_err(|cause| said("does not begin TLS", &cause))?;
                    }
                    self.sign_in(&mut connection).await?;
                    return Ok(connection);
                }
                Err(cause) => failure = said("cannot be reached", &cause),
            }
        }
        Err(failure)
    }

    /// The name and the certificates that the server must have.
    fn tls(&self) -> Result<TlsParameters, SmtpError> {
        let mut builder = TlsParameters::builder(self.smtp.host.clone());
        if let Some(pem) = &self.smtp.certificate {
            builder = builder
                .certificate_store(CertificateStore::None)
                .add_root_certificate(Certificate::from_pem(pem.as_bytes())?);
        }
        builder.build()
    }

    /// The addresses of the server that may be called (contract §8).
    async fn addresses(&self) -> Result<Vec<SocketAddr>, String> {
        let (host, port) = (self.smtp.host.as_str(), self.smtp.port);
        let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => tokio::net::lookup_host((host, port))
                .await
                .map_err(|cause| format!("{host} cannot be found: {cause}"))?
                .collect(),
        };
        let refusal = |address: &SocketAddr| judge(address.ip(), self.reach).err();
        let refused = found.iter().find_map(refusal);
        let mut allowed = found;
        allowed.retain(|address| refusal(address).is_none());
        match refused {
            Some(what) if allowed.is_empty() => Err(format!("{host} is {what}")),
            None if allowed.is_empty() => Err(format!("{host} has no address")),
            _ => Ok(allowed),
        }
    }

    async fn sign_in(&self, connection: &mut AsyncSmtpConnection) -> Result<(), String> {
        let Some(user) = self.smtp.user.as_ref().filter(|user| !user.is_empty()) else {
            return Ok(());
        };
        let credentials =
            Credentials::new(user.clone(), self.password.unwrap_or_default().to_owned());
        connection
            .auth(&[Mechanism::Plain, Mechanism::Login], &credentials)
            .await
            .map(|_| ())
            .map_err(|cause| said("does not let us sign in", &cause))
    }

    /// Sender and recipient, up to where the server wants the message.
    async fn offer(&self, connection: &mut AsyncSmtpConnection) -> Result<(), SendOutcome> {
        let server = connection.server_info();
        let mut options = Vec::new();
        if !(self.to.as_ref() as &str).is_ascii() || !(self.from.as_ref() as &str).is_ascii() {
            if !server.supports_feature(Extension::SmtpUtfEight) {
                return Err(SendOutcome::Never(
                    "the mail server takes no address with such letters".to_owned(),
                ));
            }
            options.push(MailParameter::SmtpUtfEight);
        }
        if !self.text.is_ascii() {
            options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
        }
        connection
            .command(Mail::new(Some(self.from.clone()), options))
            .await
            .map_err(|cause| SendOutcome::Down(said("does not take mail from us", &cause)))?;
        connection
            .command(Rcpt::new(self.to.clone(), Vec::new()))
            .await
            .map_err(|cause| refusal("does not take mail for this address", &cause))?;
        connection
            .command(Data)
            .await
            .map(|_| ())
            .map_err(|cause| refusal("does not take the message", &cause))
    }
}

/// A refusal before the message was handed over: for good where the server says so, unless it is
/// about our signing in.
fn refusal(what: &str, cause: &SmtpError) -> SendOutcome {
    let why = said(what, cause);
    let code = cause.status().map(|code| code.to_string());
    let of_us = matches!(code.as_deref(), Some("530" | "534" | "535" | "538"));
    if cause.is_permanent() && !of_us {
        SendOutcome::Never(why)
    } else {
        SendOutcome::Later(why)
    }
}

fn said(what: &str, cause: &SmtpError) -> String {
    format!("the mail server {what}: {cause}")
}
