//! Label printers that take jobs by TCP, usually at port 9100, and that some can be asked how they are.

use super::{deliver::Sent, printers::Language};
use crate::{
    core::outgoing::{Reach, judge_reader},
    types::text::without_number,
};
use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, lookup_host},
    time::timeout,
};

const PORT: u16 = 9100;
/// The longest time of looking a name up and connecting.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// The longest time for which a printer takes nothing: out of paper in the middle of a job, some take no more.
const WRITE_MAX: Duration = Duration::from_secs(60);
/// The time that a printer has to tell how it is.
const STATE_MAX: Duration = Duration::from_millis(700);
/// The time that a printer has to close its side, or tell how it is, once it got everything.
const TAKEN_MAX: Duration = Duration::from_millis(1500);
/// Longer answers are none.
const ANSWER_MAX_BYTES: usize = 4096;
/// The width, in millimetres, by which a badge may exceed its paper: what is cut off is its margin.
pub(super) const SPARE_MM: f64 = 4.0;

/// Connects to a printer.
///
/// # Errors
/// The reason in words.
pub(super) async fn connect(address: &str, reach: Reach) -> Result<TcpStream, String> {
    let connected = timeout(CONNECT_MAX, async {
        let found = lookup_host(with_port(address)).await;
        let found = found.map_err(|_| format!("there is no machine called {address}"))?;
        let mut why = format!("there is no machine called {address}");
        let mut allowed: Vec<SocketAddr> = Vec::new();
        for one in found {
            match judge_reader(one.ip(), reach) {
                Ok(()) => allowed.push(one),
                Err(what) => why = format!("{} is {what}", one.ip()),
            }
        }
        if allowed.is_empty() {
            return Err(why);
        }
        let stream = TcpStream::connect(&*allowed).await;
        let stream =
            stream.map_err(|cause| format!("it cannot be reached: {}", without_number(&cause)))?;
        let _ = stream.set_nodelay(true);
        Ok(stream)
    });
    connected
        .await
        .unwrap_or_else(|_| Err(format!("it does not answer at {address}")))
}

fn with_port(address: &str) -> String {
    let colons = address.matches(':').count();
    match address.rsplit_once(']') {
        Some((_, "")) => format!("{address}:{PORT}"),
        None if colons == 0 => format!("{address}:{PORT}"),
        None if colons > 1 => format!("[{address}]:{PORT}"),
        _ => address.to_owned(),
    }
}

/// Asks a printer what keeps it from printing: nothing, or reasons in words. `None`: it does not tell.
pub(super) async fn trouble(
    stream: &mut TcpStream,
    language: Language,
) -> Option<Vec<&'static str>> {
    if language != Language::Zpl {
        return None;
    }
    stream.write_all(b"~HS\r\n").await.ok()?;
    let answer = answer(stream, STATE_MAX, 3).await?;
    host_status(&answer)
}

/// Reads an answer of so many lines.
async fn answer(stream: &mut TcpStream, within: Duration, lines: usize) -> Option<String> {
    let deadline = Instant::now() + within;
    let mut answer = Vec::new();
    let mut part = [0; 512];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let count = timeout(left, stream.read(&mut part)).await.ok()?.ok()?;
        answer.extend_from_slice(&part[..count]);
        let ended = answer.iter().filter(|byte| **byte == 3).count();
        if ended >= lines {
            return String::from_utf8(answer).ok();
        }
        if count == 0 || answer.len() > ANSWER_MAX_BYTES {
            return None;
        }
    }
}

/// Reads the answer to `~HS`: three lines between STX and ETX, values separated by commas.
fn host_status(answer: &str) -> Option<Vec<&'static str>> {
    let lines = answer
        .split('\u{3}')
        .filter_map(|line| line.split_once('\u{2}'));
    let lines: Vec<Vec<&str>> = lines.map(|(_, line)| line.split(',').collect()).collect();
    let [first, second, ..] = &*lines else {
        return None;
    };
    let is_set = |line: &[&str], at: usize| line.get(at).is_some_and(|value| value.trim() == "1");
    if first.len() < 9 || second.len() < 8 {
        return None;
    }
    let troubles = [
        (is_set(first, 1), "it is out of labels"),
        (is_set(second, 2), "it is open"),
        (is_set(second, 3), "it is out of ribbon"),
        (is_set(first, 2), "somebody has paused it"),
        (is_set(first, 5), "its memory is full"),
        (is_set(first, 10), "it is too cold"),
        (is_set(first, 11), "it is too hot"),
    ];
    let troubles = troubles.into_iter().filter(|(is_set, _)| *is_set);
    Some(troubles.map(|(_, told)| told).collect())
}

/// Sends a job, and waits until the printer has taken it, as far as it tells.
pub(super) async fn send(mut stream: TcpStream, job: &[u8], tells: bool) -> Sent {
    for part in job.chunks(16 << 10) {
        match timeout(WRITE_MAX, stream.write_all(part)).await {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => return Sent::Unknown(format!("the connection broke: {cause}")),
            Err(_) => return Sent::Unknown("it took the beginning of the job only".to_owned()),
        }
    }
    if tells {
        // It reads in order: whoever answers this has the job.
        let asked = stream.write_all(b"~HS\r\n").await.is_ok();
        return if asked && answer(&mut stream, TAKEN_MAX, 3).await.is_some() {
            Sent::Yes
        } else {
            Sent::Unknown("it did not say that it has the job".to_owned())
        };
    }
    let _ = stream.shutdown().await;
    let mut rest = [0; 512];
    let deadline = Instant::now() + TAKEN_MAX;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match timeout(left, stream.read(&mut rest)).await {
            Ok(Ok(0)) | Err(_) => return Sent::Yes,
            Ok(Ok(_)) => {}
            Ok(Err(cause)) => return Sent::Unknown(format!("the connection broke: {cause}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_added_where_there_is_none() {
        for (address, whole) in [
            ("printer.local", "printer.local:9100"),
            ("192.0.2.9:6101", "192.0.2.9:6101"),
            ("fe80::1", "[fe80::1]:9100"),
            ("[fe80::1]", "[fe80::1]:9100"),
            ("[fe80::1]:6101", "[fe80::1]:6101"),
        ] {
            assert_eq!(with_port(address), whole);
        }
    }

    #[test]
    fn a_printer_tells_its_trouble() {
        let status = |first: &str, second: &str| {
            host_status(&format!(
                "\u{2}{first}\u{3}\r\n\u{2}{second}\u{3}\r\n\u{2}1234,0\u{3}\r\n"
            ))
        };
        let good = "030,0,0,0435,000,0,0,0,000,0,0,0";
        assert_eq!(
            status(good, "000,0,0,0,0,2,4,0,00000000,1,000"),
            Some(vec![])
        );
        assert_eq!(
            status(
                "030,1,1,0435,000,0,0,0,000,0,0,0",
                "000,0,1,0,0,2,4,0,00000000,1,000"
            ),
            Some(vec![
                "it is out of labels",
                "it is open",
                "somebody has paused it"
            ])
        );
        assert_eq!(host_status("HTTP/1.1 400 Bad Request"), None);
        assert_eq!(status("1,2", "3"), None);
    }
}
