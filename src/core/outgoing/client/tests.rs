use super::*;
use std::{
    future::Future,
    io::{Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    pin::Pin,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

/// A receiver on loopback that does with each connection what a test says; how many came.
fn receiver(act: impl Fn(TcpStream) + Send + 'static) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let came = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&came);
    thread::spawn(move || {
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::SeqCst);
            act(stream.unwrap());
        }
    });
    (address, came)
}

/// Reads a request's head, and its body as far as it is there.
fn read(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut buffer = [0; 4096];
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

fn local() -> Client {
    Client::new(|| Reach::Local)
}

fn post(address: SocketAddr) -> Request {
    Request::post(
        format!("http://{address}/in?key=s3cret"),
        "application/json",
        "{}",
    )
}

/// A name server that says what a test tells it to, one answer after the other.
struct Says(Vec<Vec<IpAddr>>, AtomicUsize);

impl Lookup for Says {
    fn addresses(
        &self,
        _: &str,
    ) -> Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>> {
        let turn = self.1.fetch_add(1, Ordering::SeqCst).min(self.0.len() - 1);
        let said = self.0[turn].clone();
        Box::pin(async move { Ok(said) })
    }
}

fn says(answers: &[&[&str]]) -> Says {
    let of = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    Says(answers.iter().map(of).collect(), AtomicUsize::new(0))
}

#[test]
fn an_answer_comes_back_whatever_its_status() {
    let (address, _) = receiver(|mut stream| {
        let head = read(&mut stream).to_lowercase();
        assert!(head.starts_with("post /in?key=s3cret http/1.1"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert!(
            head.contains("x-one: 1") && head.contains("user-agent: gatepost/"),
            "{head}"
        );
        let answer = "HTTP/1.1 422 No\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nnope";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let answer = run(local().send(post(address).header("X-One", "1"))).unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (422, "nope"));
    assert_eq!(answer.header("retry-after"), Some("7"));
    assert!(!answer.is_success());
}

#[test]
fn what_cannot_have_been_accepted_is_told_from_what_can() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let refused = run(local().send(post(closed))).unwrap_err();
    assert!(
        matches!(&refused, Failure::NotSent(why) if why.contains("refused")),
        "{refused:?}"
    );

    let (cuts, _) = receiver(|mut stream| drop(read(&mut stream)));
    let cut = run(local().send(post(cuts))).unwrap_err();
    assert!(matches!(cut, Failure::Unknown(_)), "{cut:?}");

    // No TLS is spoken there.
    let (plain, _) = receiver(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let request = Request::post(format!("https://{plain}/"), "text/plain", "x");
    let tls = run(local().send(request)).unwrap_err();
    assert!(matches!(tls, Failure::NotSent(_)), "{tls:?}");

    for (url, about) in [
        ("nonsense", "no address"),
        ("ftp://example.org/", "no address"),
        ("http://nowhere.invalid/", "cannot be found"),
        ("http://169.254.169.254/", "cloud"),
    ] {
        let failure = run(local().send(Request::post(url, "text/plain", "x"))).unwrap_err();
        assert!(
            matches!(&failure, Failure::NotSent(why) if why.contains(about)),
            "{url}: {failure:?}"
        );
    }
    let header = run(local().send(post(closed).header("X-Bad", "a\r\nb"))).unwrap_err();
    assert!(matches!(header, Failure::NotSent(_)), "{header:?}");
}

#[test]
fn a_failure_keeps_what_is_in_the_address_to_itself() {
    let (cuts, _) = receiver(|mut stream| drop(read(&mut stream)));
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for address in [cuts, closed] {
        let failure = run(local().send(post(address))).unwrap_err();
        assert!(!failure.why().contains("s3cret"), "{failure:?}");
    }
}

#[test]
fn a_redirect_is_an_answer_and_is_not_followed() {
    let (target, came) = receiver(drop);
    let (address, _) = receiver(move |mut stream| {
        read(&mut stream);
        let answer =
            format!("HTTP/1.1 307 Go\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
    });
    assert_eq!(run(local().send(post(address))).unwrap().status, 307);
    assert_eq!(came.load(Ordering::SeqCst), 0);
}

#[test]
fn an_answer_without_end_is_cut_off() {
    let (address, _) = receiver(|mut stream| {
        read(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let answer = run(local().send(post(address))).unwrap();
    assert_eq!(answer.body.len(), BODY_MAX_BYTES);
}

#[test]
fn a_body_that_breaks_off_still_tells_its_status() {
    let (address, _) = receiver(|mut stream| {
        read(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    });
    let answer = run(local().send(post(address))).unwrap();
    assert_eq!((answer.status, answer.text().as_str()), (200, "abc"));
}

#[test]
fn nobody_is_waited_for_longer_than_ten_seconds() {
    // It takes the request and says nothing; the other says a byte now and then.
    let (silent, _) = receiver(|mut stream| {
        read(&mut stream);
        thread::spawn(move || {
            let _ = stream.read(&mut [0; 1]);
        });
    });
    let (slow, _) = receiver(|mut stream| {
        read(&mut stream);
        thread::spawn(move || {
            while stream.write_all(b"H").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
    });
    let client = local();
    let both = run(async { tokio::join!(client.send(post(silent)), client.send(post(slow))) });
    assert!(matches!(both.0, Err(Failure::Unknown(_))), "{:?}", both.0);
    assert!(matches!(both.1, Err(Failure::Unknown(_))), "{:?}", both.1);
}

#[test]
fn this_machine_is_not_called_by_digits_or_by_name() {
    let (address, came) = receiver(|mut stream| drop(read(&mut stream)));
    let port = address.port();
    let client = Client::new(|| Reach::Network);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "localhost",
        "LOCALHOST.",
        "[::1]",
        "0",
    ] {
        let request = Request::post(format!("http://{host}:{port}/"), "text/plain", "x");
        let failure = run(client.send(request)).unwrap_err();
        assert!(
            matches!(&failure, Failure::NotSent(_)),
            "{host}: {failure:?}"
        );
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
}

#[test]
fn a_name_that_changes_its_meaning_does_not_lead_inside() {
    let (address, came) = receiver(|mut stream| drop(read(&mut stream)));
    let request = || {
        let url = format!("http://rebound.example:{}/", address.port());
        Request::post(url, "text/plain", "x")
    };
    for answers in [
        says(&[&["127.0.0.1"]]),
        says(&[&["::ffff:127.0.0.1"]]),
        says(&[&["169.254.169.254", "127.0.0.1", "::1"]]),
        // Documentation addresses, where nobody answers; then this machine.
        says(&[&["192.0.2.1"], &["127.0.0.1"]]),
    ] {
        let client = Client::with_lookup(|| Reach::Network, answers);
        for _ in 0..2 {
            let failure = run(client.send(request())).unwrap_err();
            assert!(matches!(failure, Failure::NotSent(_)), "{failure:?}");
        }
    }
    assert_eq!(came.load(Ordering::SeqCst), 0);
    let client = Client::with_lookup(|| Reach::Local, says(&[&["127.0.0.1"]]));
    run(client.send(request())).unwrap_err();
    assert_eq!(came.load(Ordering::SeqCst), 1);
}

#[test]
fn a_connection_to_this_machine_is_not_used_once_that_is_forbidden() {
    let (address, came) = receiver(|mut stream| {
        thread::spawn(move || {
            while !read(&mut stream).is_empty() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
    });
    let allowed = Arc::new(AtomicBool::new(true));
    let of_client = Arc::clone(&allowed);
    let client = Client::with_lookup(
        move || {
            if of_client.load(Ordering::SeqCst) {
                Reach::Local
            } else {
                Reach::Network
            }
        },
        says(&[&["127.0.0.1"]]),
    );
    let url = format!("http://kept.example:{}/", address.port());
    let call = || client.send(Request::post(url.clone(), "text/plain", ""));
    run(async {
        assert_eq!(call().await.unwrap().status, 200);
        assert_eq!(call().await.unwrap().status, 200);
        allowed.store(false, Ordering::SeqCst);
        call().await.unwrap_err();
    });
    assert_eq!(came.load(Ordering::SeqCst), 1);
}
