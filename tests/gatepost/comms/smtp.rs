//! A mail server on loopback that does as it is told: it takes mail, refuses it, or is gone in the
//! middle of a sentence.

use super::session::{Identity, Session};
use crate::loopback::{self, Came};
use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What becomes of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It takes everything.
    Take,
    /// It says nothing, not even a greeting, until the other side goes.
    NoGreeting,
    /// It goes away when it hears this command.
    GoneAt(&'static str),
    /// It answers this command so.
    Answer(&'static str, &'static str),
    /// It goes away in the middle of the message.
    GoneInMessage,
    /// It goes away when it has the whole message, without a word.
    GoneAfterMessage,
    /// It has the whole message and says nothing until the other side goes.
    SilentAfterMessage,
    /// It has the whole message and answers so.
    AnswerMessage(&'static str),
}

/// How it speaks TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    None,
    /// From the STARTTLS command on.
    Starttls,
    FromStart,
}

/// A message that it took, or at least got.
#[derive(Debug, Clone, Default)]
pub struct Mail {
    pub from: String,
    pub to: String,
    /// Headers and body, as they came.
    pub text: String,
    /// What AUTH said, in base 64.
    pub auth: String,
    /// All of it came by TLS, but for the first words before STARTTLS.
    pub secured: bool,
}

#[derive(Default)]
struct Inside {
    acts: Mutex<VecDeque<Act>>,
    taken: Came<Mail>,
    connections: AtomicUsize,
}

/// The server.
pub struct MailServer {
    pub port: u16,
    pub tls: Tls,
    inside: Arc<Inside>,
}

impl MailServer {
    pub fn start() -> Self {
        Self::begin(Tls::None, None)
    }

    /// By TLS, as somebody.
    pub fn start_by(tls: Tls, identity: &Identity) -> Self {
        Self::begin(tls, Some(identity.clone()))
    }

    fn begin(tls: Tls, identity: Option<Identity>) -> Self {
        let listener = loopback::listener();
        let port = listener.local_addr().expect("an address").port();
        let inside = Arc::new(Inside::default());
        let of_threads = Arc::clone(&inside);
        loopback::serve(listener, move |stream| {
            match identity.as_ref().filter(|_| tls == Tls::FromStart) {
                Some(identity) => converse(Session::secured(stream, identity), None, &of_threads),
                None => converse(Session::Plain(stream), identity.as_ref(), &of_threads),
            }
        });
        Self { port, tls, inside }
    }

    /// What becomes of the next connections; those after take everything.
    pub fn act(&self, acts: &[Act]) {
        *self.inside.acts.lock().expect("a lock") = acts.iter().copied().collect();
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.inside.connections.load(Ordering::SeqCst)
    }

    /// What came, whole, whatever it was answered.
    pub fn mails(&self) -> Vec<Mail> {
        self.inside.taken.all()
    }

    /// Waits until so many messages came.
    #[track_caller]
    pub fn wait_for(&self, mails: usize) -> Vec<Mail> {
        self.inside.taken.wait_for(mails)
    }
}

/// Talks with somebody who connected; `identity` is for STARTTLS.
fn converse(session: Session, identity: Option<&Identity>, inside: &Inside) -> io::Result<()> {
    inside.connections.fetch_add(1, Ordering::SeqCst);
    let told = inside.acts.lock().expect("a lock").pop_front();
    let act = told.unwrap_or(Act::Take);
    let mut io = BufReader::new(session);
    if act == Act::NoGreeting {
        while read(&mut io)?.is_some() {}
        return Ok(());
    }
    if act == Act::GoneAt("") {
        return Ok(());
    }
    let mut mail = Mail::default();
    say(&mut io, "220 mail.example.org ESMTP")?;
    while let Some(line) = read(&mut io)? {
        let command = line
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_uppercase();
        match act {
            Act::GoneAt(at) if at == command => return Ok(()),
            Act::Answer(at, answer) if at == command => {
                say(&mut io, answer)?;
                continue;
            }
            _ => {}
        }
        let secured = io.get_ref().is_secured();
        match command.as_str() {
            "EHLO" => {
                let starttls = identity
                    .filter(|_| !secured)
                    .map_or("", |_| "250-STARTTLS\r\n");
                let known = "250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN";
                say(
                    &mut io,
                    &format!("250-mail.example.org\r\n{starttls}{known}"),
                )?;
            }
            "STARTTLS" if !secured => {
                let Some(identity) = identity else {
                    say(&mut io, "502 5.5.1 what?")?;
                    continue;
                };
                say(&mut io, "220 2.0.0 go on")?;
                let Session::Plain(stream) = io.into_inner() else {
                    return Ok(());
                };
                io = BufReader::new(Session::secured(stream, identity));
            }
            "AUTH" => {
                line.clone_into(&mut mail.auth);
                say(&mut io, "235 2.7.0 welcome")?;
            }
            "MAIL" => {
                line.clone_into(&mut mail.from);
                say(&mut io, "250 2.1.0 fine")?;
            }
            "RCPT" => {
                line.clone_into(&mut mail.to);
                say(&mut io, "250 2.1.5 fine")?;
            }
            "DATA" => {
                say(&mut io, "354 go on")?;
                while let Some(line) = read(&mut io)?.filter(|line| line != ".") {
                    if act == Act::GoneInMessage {
                        return Ok(());
                    }
                    mail.text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.text.push_str("\r\n");
                }
                mail.secured = secured;
                inside.taken.add(mail.clone());
                match act {
                    Act::GoneAfterMessage => return Ok(()),
                    Act::SilentAfterMessage => {}
                    Act::AnswerMessage(answer) => say(&mut io, answer)?,
                    _ => say(&mut io, "250 2.0.0 queued")?,
                }
            }
            "QUIT" => return say(&mut io, "221 bye"),
            _ => say(&mut io, "502 5.5.1 what?")?,
        }
    }
    Ok(())
}

/// What somebody says next; none when they are gone.
fn read(io: &mut BufReader<Session>) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let came = io.read_line(&mut line)?;
    let said = line.trim_end_matches(['\r', '\n']).to_owned();
    Ok((came > 0).then_some(said))
}

fn say(io: &mut BufReader<Session>, words: &str) -> std::io::Result<()> {
    write!(io.get_mut(), "{words}\r\n")?;
    io.get_mut().flush()
}
