//! TLS: a mail server of the venue's own, by a certificate that is set; and what the operating system
//! trusts, for mail servers, gateways and webhooks alike.

use super::{
    Post,
    provider::Provider,
    session::Identity,
    smtp::{MailServer, Tls},
};
use crate::faults::process::{GATEPOST, Served, Site, gatepost, until};
use crate::harness::has;
use serde_json::{Value, json};
use std::process::Command;

/// A mail server as a gateway, by TLS as it speaks it.
fn secured(mail: &MailServer, certificate: Option<&str>) -> Value {
    let security = match mail.tls {
        Tls::None => "none",
        Tls::Starttls => "starttls",
        Tls::FromStart => "tls",
    };
    let mut gateway = json!({"kind": "smtp", "host": "127.0.0.1", "port": mail.port, "security": security,
        "from": "Summit <summit@example.org>", "user": "summit"});
    if let Some(certificate) = certificate {
        gateway["certificate"] = certificate.into();
    }
    gateway
}

#[test]
fn a_mail_server_with_a_certificate_of_its_own_is_trusted_by_that_alone() {
    let post = Post::open();
    let ask = json!({"email_id": post.welcome(), "delegate_id": post.ada});
    let (own, other) = (Identity::of("127.0.0.1"), Identity::of("127.0.0.1"));
    let elsewhere = Identity::of("mail.example.org");
    for tls in [Tls::Starttls, Tls::FromStart] {
        let mail = MailServer::start_by(tls, &own);
        for trusted in [None, Some(&*other.certificate)] {
            post.set("email", &secured(&mail, trusted));
            assert_eq!(post.flags(&ask), (false, false), "{tls:?}");
            assert!(
                post.newest().1.contains("certificate"),
                "{:?}",
                post.newest()
            );
        }
        // Beside others, as files of authorities have them.
        let several = format!("{}\n{}", other.certificate, own.certificate);
        for trusted in [&own.certificate, &several] {
            post.set("email", &secured(&mail, Some(trusted)));
            assert_eq!(post.flags(&ask), (false, true), "{:?}", post.newest());
        }
        let mails = mail.wait_for(2);
        assert!(mails.iter().all(|mail| mail.secured), "{tls:?}");
        assert!(mails.iter().all(|mail| mail.auth.starts_with("AUTH PLAIN")));
        has(&mails[1].text, "Subject: Welcome to Summit, Ada");
        // A certificate that is trusted and of another server.
        let mail = MailServer::start_by(tls, &elsewhere);
        post.set("email", &secured(&mail, Some(&elsewhere.certificate)));
        assert_eq!(post.flags(&ask), (false, false), "{tls:?}");
        assert!(
            post.newest().1.contains("not valid for name"),
            "{:?}",
            post.newest()
        );
        assert!(mail.mails().is_empty());
    }
}

#[test]
fn the_certificate_is_set_in_the_console_and_in_the_configuration() {
    let post = Post::open();
    let own = Identity::of("127.0.0.1");
    let mail = MailServer::start_by(Tls::Starttls, &own);
    let crew = post.server.administrator();
    let path = "/console/messages/gateways/email";
    let port = mail.port.to_string();
    let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let with_key = format!("{}{key}", own.certificate);
    // As a browser sends it.
    let typed = own.certificate.replace('\n', "\r\n");
    let seen = crew.get(path).version();
    let send = |certificate: &str| {
        crew.post(
            path,
            &[
                ("version", &*seen),
                ("kind", "smtp"),
                ("host", "127.0.0.1"),
                ("port", &port),
                ("security", "starttls"),
                ("from", "Summit <summit@example.org>"),
                ("secret", "another"),
                ("certificate", certificate),
            ],
        )
    };
    for (wrong, about) in [
        ("nonsense", "PEM"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "Cannot be used",
        ),
        (&with_key, "private key"),
    ] {
        send(wrong).refused(422, about);
    }
    send(&typed).taken();
    let ask = json!({"email_id": post.welcome(), "delegate_id": post.ada});
    assert_eq!(post.flags(&ask), (false, true), "{:?}", post.newest());
    crew.sees(path, "-----BEGIN CERTIFICATE-----");
    let exported = gatepost(&post.server.path(), &["config", "export"]);
    let exported: Value = serde_json::from_slice(&exported.stdout).expect("JSON");
    let certificate = &exported["gateways"]["email"]["certificate"];
    assert_eq!(certificate.as_str(), Some(own.certificate.trim()));
}

/// What the machine trusts stands, on Linux, in a file that can be named.
#[cfg(target_os = "linux")]
#[test]
fn what_the_machine_trusts_is_trusted_by_mail_gateways_and_webhooks() {
    let site = Site::prepare();
    let own = Identity::of("127.0.0.1");
    let mail = MailServer::start_by(Tls::FromStart, &own);
    let provider = Provider::start_by(&own);
    let url = provider.url();
    let document = json!({
        "settings": {"outgoing": {"allowLocal": true}},
        "gateways": {
            "email": secured(&mail, None),
            "sms": {"kind": "http", "url": format!("{url}/sms"), "body": "{\"to\": \"{{ to }}\"}"},
        },
        "webhooks": [{"name": "CRM", "url": format!("{url}/crm"), "interactions": ["seen"]}],
    });
    let file = site.folder.path().join("config.json");
    std::fs::write(&file, document.to_string()).expect("a file");
    let applied = gatepost(
        &site.db,
        &["config", "apply", file.to_str().expect("a name")],
    );
    assert!(applied.status.success(), "{applied:?}");
    for (channel, address) in [("email", "ada@example.org"), ("sms", "+4940123456")] {
        super::crash::put(&site.db, channel, address);
    }
    let authorities = site.folder.path().join("authorities.pem");
    let seen = |served: &Served, nth: usize| {
        let answer = crate::harness::plain()
            .post(format!(
                "http://{}/api/v5/interaction/new/seen",
                served.address
            ))
            .bearer_auth(&site.token)
            .json(&json!({"delegate": site.delegates[nth]}))
            .send()
            .expect("an answer");
        assert_eq!(answer.status(), 201);
    };
    let start = |trusted: &Identity| {
        std::fs::write(&authorities, &trusted.certificate).expect("a file");
        let mut command = Command::new(GATEPOST);
        command
            .env("SSL_CERT_FILE", &authorities)
            .env_remove("SSL_CERT_DIR");
        Served::start_by(command, &site.db, &[])
    };
    // The control: an authority that signed nothing here.
    let served = start(&Identity::of("127.0.0.1"));
    seen(&served, 0);
    let refused = "SELECT (SELECT count(*) FROM messages WHERE failure LIKE '%certificate%')
         + (SELECT count(*) FROM webhook_attempts WHERE answer LIKE '%certificate%')";
    until("nobody is trusted", || {
        super::crash::value(&site.db, refused) >= 3
    });
    served.stop();
    super::crash::run(&site.db, super::LATER);
    assert!(mail.mails().is_empty() && provider.calls().is_empty());

    let served = start(&own);
    seen(&served, 1);
    assert!(mail.wait_for(1)[0].secured);
    for path in ["/sms", "/crm"] {
        let line = format!("POST {path} HTTP/1.1");
        until(&format!("{path} is called"), || {
            let mut calls = provider.calls().into_iter();
            calls.any(|call| call.line.trim_end() == line)
        });
    }
    served.stop();
}
