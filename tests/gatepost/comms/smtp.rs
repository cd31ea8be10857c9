//! A mail server on loopback that does as it is told: it takes mail, refuses it, or is gone in the
//! middle of a sentence.

use crate::loopback::{self, Came};
use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Write},
    net::TcpStream,
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

/// A message that it took, or at least got.
#[derive(Debug, Clone, Default)]
pub struct Mail {
    pub from: String,
    pub to: String,
    /// Headers and body, as they came.
    pub text: String,
    /// What AUTH said, in base 64.
    pub auth: String,
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
    inside: Arc<Inside>,
}

impl MailServer {
    pub fn start() -> Self {
        let listener = loopback::listener();
        let port = listener.local_addr().expect("an address").port();
        let inside = Arc::new(Inside::default());
        let of_threads = Arc::clone(&inside);
        loopback::serve(listener, move |stream| converse(stream, &of_threads));
        Self { port, inside }
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

fn converse(stream: TcpStream, inside: &Inside) -> io::Result<()> {
    inside.connections.fetch_add(1, Ordering::SeqCst);
    let told = inside.acts.lock().expect("a lock").pop_front();
    let act = told.unwrap_or(Act::Take);
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    if act == Act::NoGreeting {
        while lines.next().is_some_and(|line| line.is_ok()) {}
        return Ok(());
    }
    if act == Act::GoneAt("") {
        return Ok(());
    }
    write!(out, "220 mail.example.org ESMTP\r\n")?;
    let mut mail = Mail::default();
    while let Some(line) = lines.next() {
        let line = line?;
        let command = line
            .split([' ', ':'])
            .next()
            .unwrap_or_default()
            .to_uppercase();
        match act {
            Act::GoneAt(at) if at == command => return Ok(()),
            Act::Answer(at, answer) if at == command => {
                write!(out, "{answer}\r\n")?;
                continue;
            }
            _ => {}
        }
        match command.as_str() {
            "EHLO" => write!(
                out,
                "250-mail.example.org\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN\r\n"
            )?,
            "AUTH" => {
                line.clone_into(&mut mail.auth);
                write!(out, "235 2.7.0 welcome\r\n")?;
            }
            "MAIL" => {
                line.clone_into(&mut mail.from);
                write!(out, "250 2.1.0 fine\r\n")?;
            }
            "RCPT" => {
                line.clone_into(&mut mail.to);
                write!(out, "250 2.1.5 fine\r\n")?;
            }
            "DATA" => {
                write!(out, "354 go on\r\n")?;
                for line in lines.by_ref() {
                    let line = line?;
                    if line == "." {
                        break;
                    }
                    if act == Act::GoneInMessage {
                        return Ok(());
                    }
                    mail.text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.text.push_str("\r\n");
                }
                inside.taken.add(mail.clone());
                match act {
                    Act::GoneAfterMessage => return Ok(()),
                    Act::SilentAfterMessage => {}
                    Act::AnswerMessage(answer) => write!(out, "{answer}\r\n")?,
                    _ => write!(out, "250 2.0.0 queued\r\n")?,
                }
            }
            "QUIT" => {
                write!(out, "221 bye\r\n")?;
                return Ok(());
            }
            _ => write!(out, "502 5.5.1 what?\r\n")?,
        }
    }
    Ok(())
}
