//! Rate limiters: guesses at passwords, codes and secrets (contract §9), and requests for one-time passwords.
//!
//! The throttle counts failures only, so that no number of good sign-ins is ever held up, and a whole
//! venue may share one address: known accounts are counted by name together with the address, and only
//! guesses at unknown ones by address alone.

use crate::types::{
    ClientId,
    error::{Error, Kind, Result},
    secret::{self, Digest},
};
use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

const MINUTE: Duration = Duration::from_mins(1);
/// Failures of one account from one address in a minute.
const ACCOUNT_MAX: u32 = 10;
/// Failures at one endpoint from one address in a minute, whatever the account.
const ADDRESS_MAX: u32 = 100;
/// One-time passwords for one e-mail address from one network address within ten minutes, in which one is
/// good.
const OTP_EMAIL_MAX: u32 = 5;
/// One-time passwords for one e-mail address from one network address in a day. With five guesses at each,
/// somebody who does nothing else is right once in twenty years.
const OTP_EMAIL_DAY_MAX: u32 = 25;
/// One-time passwords for one e-mail address in a day, from wherever. Whoever wants to keep its owner out
/// takes ten network addresses for it.
const OTP_EMAIL_ALL_DAY_MAX: u32 = 250;
/// One-time passwords asked for from one address in a minute; a whole venue may stand behind one.
const OTP_ADDRESS_MAX: u32 = 60;
/// One-time passwords asked for by one client in a minute: everybody may have the same app.
const OTP_CLIENT_MAX: u32 = 300;
/// Wrong supervisor PINs of one client in a minute.
const PIN_MAX: u32 = 5;
/// Look-ups of one client in a minute that find nobody: people mistype, and one client may be several kiosks.
const LOOK_UP_MAX: u32 = 30;
/// Windows kept of each kind.
const WINDOWS_MAX: usize = 10_000;

/// The place where guesses are made. Failures at one endpoint never close another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    ClientSecret,
    /// Passwords and one-time passwords at the token endpoint.
    UserPassword,
    ConsolePassword,
    /// Codes of an authenticator app, wherever they are asked for.
    SecondFactor,
    DeviceRequest,
    /// Pairing codes of a hub.
    VenueCode,
}

/// The account whose failures count together.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    endpoint: Endpoint,
    name: Option<&'a str>,
}

impl<'a> Account<'a> {
    /// An account that exists: counted by name and address.
    pub fn known(endpoint: Endpoint, name: &'a str) -> Self {
        let name = Some(name);
        Self { endpoint, name }
    }

    /// An account that does not exist, or cannot be shut out: counted by address.
    pub fn unknown(endpoint: Endpoint) -> Self {
        let name = None;
        Self { endpoint, name }
    }

    /// Accounts are told apart as sign-in does it: not by the case of their letters. The digest, as an
    /// account's name is as long as a sender likes.
    fn key(&self, address: IpAddr) -> Option<(Endpoint, Digest, IpAddr)> {
        Some((self.endpoint, folded_digest(self.name?), counted(address)))
    }
}

fn folded_digest(name: &str) -> Digest {
    secret::digest(name.to_ascii_lowercase().as_bytes())
}

/// Failures by account and address, and by address alone. The time is passed in.
pub struct Throttle(Mutex<Failures>);

struct Failures {
    accounts: Windows<(Endpoint, Digest, IpAddr)>,
    addresses: Windows<(Endpoint, IpAddr)>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self(Mutex::new(Failures {
            accounts: Windows::new(ACCOUNT_MAX, MINUTE),
            addresses: Windows::new(ADDRESS_MAX, MINUTE),
        }))
    }
}

impl Throttle {
    /// Lets an attempt pass, unless too many failed before it. Failures of others from the same
    /// address never close a known account.
    pub fn check(&self, account: Account<'_>, address: IpAddr, now: Instant) -> Result<()> {
        let failures = self.failures();
        let wait = match account.key(address) {
            Some(key) => failures.accounts.wait(&key, now),
            None => failures
                .addresses
                .wait(&(account.endpoint, counted(address)), now),
        };
        wait.map_or(Ok(()), |wait| Err(too_many("attempts failed", wait)))
    }

    /// Counts an attempt that failed.
    ///
    /// # Errors
    /// [`Kind::TooManyAttempts`] in place of what failed, once too many failed at this endpoint from
    /// this address: known and unknown accounts then get the same answer.
    pub fn failed(&self, account: Account<'_>, address: IpAddr, now: Instant) -> Result<()> {
        let mut failures = self.failures();
        if let Some(key) = account.key(address) {
            failures.accounts.count(key, now);
        }
        let all = (account.endpoint, counted(address));
        let wait = failures.addresses.wait(&all, now);
        failures.addresses.count(all, now);
        wait.map_or(Ok(()), |wait| Err(too_many("attempts failed", wait)))
    }

    /// Forgets the account's failures from this address. Those of the address stay: who has one
    /// account of his own must not have endless guesses at unknown ones.
    pub fn succeeded(&self, account: Account<'_>, address: IpAddr) {
        if let Some(key) = account.key(address) {
            self.failures().accounts.kept.remove(&key);
        }
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Limits how often one-time passwords are asked for: by e-mail address, so that nobody's mailbox is flooded and
/// guesses stay few, but mostly together with the network address, so that nobody keeps its owner out; by
/// network address and by client. Unknown addresses count as well, so that it tells nothing about users. The
/// time is passed in.
pub struct OtpRateLimiter(Mutex<Requests>);

struct Requests {
    emails: Windows<(Digest, IpAddr)>,
    email_days: Windows<(Digest, IpAddr)>,
    all_days: Windows<Digest>,
    addresses: Windows<IpAddr>,
    clients: Windows<Option<ClientId>>,
}

impl Default for OtpRateLimiter {
    fn default() -> Self {
        Self(Mutex::new(Requests {
            emails: Windows::new(OTP_EMAIL_MAX, 10 * MINUTE),
            email_days: Windows::new(OTP_EMAIL_DAY_MAX, 24 * 60 * MINUTE),
            all_days: Windows::new(OTP_EMAIL_ALL_DAY_MAX, 24 * 60 * MINUTE),
            addresses: Windows::new(OTP_ADDRESS_MAX, MINUTE),
            clients: Windows::new(OTP_CLIENT_MAX, MINUTE),
        }))
    }
}

impl OtpRateLimiter {
    /// Counts a request, by a client or on the page that needs none. One that is refused does not count.
    pub fn ask(
        &self,
        email: &str,
        client: Option<ClientId>,
        address: IpAddr,
        now: Instant,
    ) -> Result<()> {
        let mut requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (email, address) = (folded_digest(email), counted(address));
        let both = (email, address);
        let wait = requests
            .emails
            .wait(&both, now)
            .max(requests.email_days.wait(&both, now))
            .max(requests.all_days.wait(&email, now))
            .max(requests.addresses.wait(&address, now))
            .max(requests.clients.wait(&client, now));
        if let Some(wait) = wait {
            return Err(too_many("codes were asked for", wait));
        }
        requests.emails.count(both, now);
        requests.email_days.count(both, now);
        requests.all_days.count(email, now);
        requests.addresses.count(address, now);
        requests.clients.count(client, now);
        Ok(())
    }
}

/// Wrong guesses at a gate, by client. The time is passed in.
pub struct Guesses {
    what: &'static str,
    wrong: Mutex<Windows<ClientId>>,
}

impl Guesses {
    fn new(what: &'static str, most: u32) -> Self {
        let wrong = Mutex::new(Windows::new(most, MINUTE));
        Self { what, wrong }
    }

    /// At supervisor PINs.
    pub fn of_pins() -> Self {
        Self::new("wrong PINs", PIN_MAX)
    }

    /// At who attendees are, at a kiosk.
    pub fn of_attendees() -> Self {
        Self::new("look-ups without a result", LOOK_UP_MAX)
    }

    /// # Errors
    /// [`Kind::TooManyAttempts`] after too many wrong ones, whatever the next one is.
    pub fn check(&self, client: ClientId, now: Instant) -> Result<()> {
        let wait = self.windows().wait(&client, now);
        wait.map_or(Ok(()), |wait| Err(too_many(self.what, wait)))
    }

    /// Counts a guess as wrong before anybody knows: of guesses at once no more pass than in turn.
    ///
    /// # Errors
    /// As [`Guesses::check`].
    pub fn begin(&self, client: ClientId, now: Instant) -> Result<()> {
        let mut windows = self.windows();
        if let Some(wait) = windows.wait(&client, now) {
            return Err(too_many(self.what, wait));
        }
        windows.count(client, now);
        Ok(())
    }

    /// Counts a wrong one.
    pub fn wrong(&self, client: ClientId, now: Instant) {
        self.windows().count(client, now);
    }

    /// Forgets the wrong ones before a right one.
    pub fn right(&self, client: ClientId) {
        self.windows().kept.remove(&client);
    }

    fn windows(&self) -> MutexGuard<'_, Windows<ClientId>> {
        self.wrong.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that attempts count for: of IPv6 the network of 64 bits, any address of which its
/// holder can take.
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The refusal of whoever did too much of something, for so long.
pub(super) fn too_many(what: &str, wait: Duration) -> Error {
    let begun = u64::from(wait.subsec_nanos() > 0);
    let retry_after_s = u32::try_from(wait.as_secs() + begun).unwrap_or(u32::MAX);
    Error::new(
        Kind::TooManyAttempts { retry_after_s },
        format!("too many {what}; try again in {retry_after_s} seconds"),
    )
}

/// Counts by key, each in a window that begins with its first event.
struct Windows<K> {
    max: u32,
    length: Duration,
    kept: HashMap<K, (Instant, u32)>,
}

impl<K: Hash + Eq + Clone> Windows<K> {
    fn new(max: u32, length: Duration) -> Self {
        let kept = HashMap::new();
        Self { max, length, kept }
    }

    /// Returns the time left of a window.
    fn left(&self, begun: Instant, now: Instant) -> Option<Duration> {
        let left = self
            .length
            .checked_sub(now.saturating_duration_since(begun));
        left.filter(|left| !left.is_zero())
    }

    /// Returns the time to wait, where the window is full.
    fn wait(&self, key: &K, now: Instant) -> Option<Duration> {
        let (begun, count) = self.kept.get(key)?;
        self.left(*begun, now).filter(|_| *count >= self.max)
    }

    fn count(&mut self, key: K, now: Instant) {
        if self.kept.len() >= WINDOWS_MAX && !self.kept.contains_key(&key) {
            self.make_room(now);
        }
        let window = self.kept.get(&key);
        let open = window.filter(|(begun, _)| self.left(*begun, now).is_some());
        let (begun, count) = open.copied().unwrap_or((now, 0));
        self.kept.insert(key, (begun, count.saturating_add(1)));
    }

    /// Drops the windows that ended, or else the oldest one.
    fn make_room(&mut self, now: Instant) {
        let length = self.length;
        self.kept
            .retain(|_, (begun, _)| now.saturating_duration_since(*begun) < length);
        if self.kept.len() >= WINDOWS_MAX {
            let oldest = self.kept.iter().min_by_key(|(_, (begun, _))| *begun);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.kept.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn ada() -> Account<'static> {
        Account::known(Endpoint::UserPassword, "ada@example.com")
    }

    fn fail(throttle: &Throttle, times: u32, account: Account<'_>, address: IpAddr, now: Instant) {
        for _ in 0..times {
            let _ = throttle.failed(account, address, now);
        }
    }

    #[test]
    fn ten_failures_close_one_account_at_one_address_for_a_minute() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        fail(&throttle, 9, ada(), HERE, start);
        assert!(throttle.check(ada(), HERE, start).is_ok());
        let otherwise = Account::known(Endpoint::UserPassword, "Ada@example.com");
        fail(
            &throttle,
            1,
            otherwise,
            HERE,
            start + Duration::from_secs(30),
        );
        let later = start + Duration::from_secs(40);
        let refused = throttle.check(otherwise, HERE, later).unwrap_err();
        assert_eq!(refused.kind, Kind::TooManyAttempts { retry_after_s: 20 });
        let bob = Account::known(Endpoint::UserPassword, "bob@example.com");
        assert!(throttle.check(bob, HERE, later).is_ok());
        assert!(throttle.check(ada(), THERE, later).is_ok());
        assert!(throttle.check(ada(), HERE, start + MINUTE).is_ok());
    }

    #[test]
    fn guesses_at_nobody_close_an_address_for_nobody_alone() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let nobody = Account::unknown(Endpoint::UserPassword);
        for _ in 0..ADDRESS_MAX {
            assert!(throttle.failed(nobody, HERE, now).is_ok());
        }
        assert!(throttle.failed(nobody, HERE, now).is_err());
        assert!(throttle.check(nobody, HERE, now).is_err());
        assert!(throttle.check(nobody, THERE, now).is_ok());
        assert!(throttle.check(ada(), HERE, now).is_ok());
        // Whoever guesses is not told that ada exists.
        assert!(throttle.failed(ada(), HERE, now).is_err());
        let console = Account::unknown(Endpoint::ConsolePassword);
        assert!(throttle.check(console, HERE, now).is_ok());
    }

    #[test]
    fn a_success_clears_the_account_and_not_the_address() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        fail(&throttle, 100, ada(), HERE, now);
        throttle.succeeded(ada(), HERE);
        assert!(throttle.check(ada(), HERE, now).is_ok());
        let nobody = Account::unknown(Endpoint::UserPassword);
        assert!(throttle.check(nobody, HERE, now).is_err());
    }

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        fail(&throttle, 10, ada(), address("2001:db8::1"), now);
        assert!(throttle.check(ada(), address("2001:db8::2"), now).is_err());
        let next = address("2001:db8:0:1::1");
        assert!(throttle.check(ada(), next, now).is_ok());
        fail(&throttle, 10, ada(), address("::ffff:10.0.0.1"), now);
        assert!(throttle.check(ada(), HERE, now).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_windows_go_first() {
        let mut windows = Windows::new(1, MINUTE);
        let start = Instant::now();
        for (key, millis) in (0..=WINDOWS_MAX).zip(0..) {
            windows.count(key, start + Duration::from_millis(millis));
        }
        assert_eq!(windows.kept.len(), WINDOWS_MAX);
        assert!(!windows.kept.contains_key(&0) && windows.kept.contains_key(&WINDOWS_MAX));
        windows.count(0, start + 2 * MINUTE);
        assert_eq!(windows.kept.len(), 1);
    }
}

#[cfg(test)]
mod pin_tests {
    use super::*;

    #[test]
    fn five_wrong_pins_close_one_client_for_a_minute() {
        let (pins, start) = (Guesses::of_pins(), Instant::now());
        let (gate, other) = (ClientId(1), ClientId(2));
        let wrong = |times: u32| {
            for _ in 0..times {
                pins.check(gate, start).unwrap();
                pins.wrong(gate, start);
            }
        };
        wrong(4);
        pins.right(gate);
        wrong(5);
        let later = start + Duration::from_secs(40);
        let refused = pins.check(gate, later).unwrap_err();
        assert_eq!(refused.kind, Kind::TooManyAttempts { retry_after_s: 20 });
        pins.check(other, later).unwrap();
        pins.check(gate, start + MINUTE).unwrap();
    }
}

#[cfg(test)]
mod otp_tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn there(last: u8) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, last))
    }

    #[test]
    fn five_codes_for_one_address_in_ten_minutes_from_one_network_address() {
        let (otp_rate_limiter, start) = (OtpRateLimiter::default(), Instant::now());
        for _ in 0..5 {
            otp_rate_limiter
                .ask("ada@example.org", None, HERE, start)
                .unwrap();
        }
        // Whoever asked does not keep her out.
        otp_rate_limiter
            .ask("ada@example.org", None, there(1), start)
            .unwrap();
        let refused = otp_rate_limiter.ask("ADA@example.org", Some(ClientId(1)), HERE, start);
        let expected = Kind::TooManyAttempts { retry_after_s: 600 };
        assert_eq!(refused.unwrap_err().kind, expected);
        otp_rate_limiter
            .ask("bob@example.org", None, HERE, start)
            .unwrap();
        let later = start + Duration::from_secs(600);
        otp_rate_limiter
            .ask("ada@example.org", None, HERE, later)
            .unwrap();
    }

    #[test]
    fn a_day_has_an_end_too() {
        let (otp_rate_limiter, start) = (OtpRateLimiter::default(), Instant::now());
        let at = |round: u32| start + Duration::from_secs(600) * round;
        for round in 0..5 {
            for _ in 0..5 {
                otp_rate_limiter.ask("ada", None, HERE, at(round)).unwrap();
            }
        }
        assert!(otp_rate_limiter.ask("ada", None, HERE, at(5)).is_err());
        assert!(otp_rate_limiter.ask("ada", None, HERE, at(143)).is_err());
        assert!(otp_rate_limiter.ask("ada", None, HERE, at(144)).is_ok());
    }

    #[test]
    fn one_mailbox_gets_so_many_in_a_day_from_wherever() {
        let (otp_rate_limiter, now) = (OtpRateLimiter::default(), Instant::now());
        let of_five = |address: u8| {
            (0..5).all(|_| {
                otp_rate_limiter
                    .ask("ada", None, there(address), now)
                    .is_ok()
            })
        };
        assert!((0..50).all(of_five));
        assert!(otp_rate_limiter.ask("ada", None, there(50), now).is_err());
        assert!(otp_rate_limiter.ask("bob", None, there(50), now).is_ok());
    }

    #[test]
    fn one_network_address_and_one_client_have_an_end() {
        let (otp_rate_limiter, now) = (OtpRateLimiter::default(), Instant::now());
        for at in 0..OTP_ADDRESS_MAX {
            otp_rate_limiter
                .ask(&format!("a{at}"), None, HERE, now)
                .unwrap();
        }
        assert!(
            otp_rate_limiter
                .ask("another", Some(ClientId(1)), HERE, now)
                .is_err()
        );
        let client = Some(ClientId(2));
        for at in 0..OTP_CLIENT_MAX {
            let address = there(u8::try_from(at % 200).unwrap());
            otp_rate_limiter
                .ask(&format!("b{at}"), client, address, now)
                .unwrap();
        }
        assert!(
            otp_rate_limiter
                .ask("another", client, there(201), now)
                .is_err()
        );
        // What was refused did not count.
        assert!(
            otp_rate_limiter
                .ask("another", Some(ClientId(3)), there(201), now)
                .is_ok()
        );
    }
}
