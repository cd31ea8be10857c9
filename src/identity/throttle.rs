//! The throttle of guesses at passwords, codes and secrets (contract §9). It counts failures only, so
//! that no number of good sign-ins is ever held up, and a whole venue may share one address: whoever
//! exists is counted by name together with the address, and only guesses at nobody by address alone.

use crate::types::error::{Error, Kind, Result};
use crate::types::secret::{self, Digest};
use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Failures are counted in windows of this length, each from its first failure on.
const WINDOW: Duration = Duration::from_mins(1);
/// Failures of one account from one address in a window.
const ACCOUNT_MAX: u32 = 10;
/// Failures at one door from one address in a window, whatever the account.
const ADDRESS_MAX: u32 = 100;
/// Windows kept of each kind.
const WINDOWS_MAX: usize = 10_000;

/// Where guesses are made. Failures at one door never close another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// Client secrets at the token endpoint.
    ClientSecret,
    /// Passwords and one-time passwords at the token endpoint.
    UserPassword,
    /// Passwords in the console.
    ConsolePassword,
    /// Codes of an authenticator app, wherever they are asked for.
    SecondFactor,
    /// Secrets of apps that wait for approval.
    DeviceRequest,
}

/// Whose failures count together.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    endpoint: Endpoint,
    name: Option<&'a str>,
}

impl<'a> Account<'a> {
    /// Somebody who exists: counted by name and address.
    #[must_use]
    pub fn known(endpoint: Endpoint, name: &'a str) -> Self {
        Self {
            endpoint,
            name: Some(name),
        }
    }

    /// Whoever does not exist, or cannot be shut out: counted by address.
    #[must_use]
    pub fn unknown(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            name: None,
        }
    }
}

/// Failures by account and address, and by address alone. The time is passed in.
#[derive(Default)]
pub struct Throttle(Mutex<Counts>);

struct Counts {
    // By the account's digest: an account's name is as long as a sender likes.
    accounts: Windows<(Endpoint, Digest, IpAddr)>,
    addresses: Windows<(Endpoint, IpAddr)>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            accounts: Windows::new(WINDOW),
            addresses: Windows::new(WINDOW),
        }
    }
}

impl Throttle {
    /// Lets an attempt pass, unless too many failed before it. Failures of others from the same
    /// address never close a known account.
    ///
    /// # Errors
    /// [`Kind::TooManyAttempts`], with the seconds until the next attempt is looked at.
    pub fn check(&self, account: Account<'_>, address: IpAddr, now: Instant) -> Result<()> {
        let counts = self.counts();
        let address = counted(address);
        let wait = match account.name {
            Some(name) => {
                counts
                    .accounts
                    .wait(&key(account.endpoint, name, address), ACCOUNT_MAX, now)
            }
            None => counts
                .addresses
                .wait(&(account.endpoint, address), ADDRESS_MAX, now),
        };
        match wait {
            None => Ok(()),
            Some(wait) => Err(too_many("attempts failed", wait)),
        }
    }

    /// Counts an attempt that failed.
    ///
    /// # Errors
    /// [`Kind::TooManyAttempts`] in place of what failed, once too many failed at this door from
    /// this address: known and unknown accounts then get the same answer.
    pub fn failed(&self, account: Account<'_>, address: IpAddr, now: Instant) -> Result<()> {
        let mut counts = self.counts();
        let network = counted(address);
        if let Some(name) = account.name {
            counts
                .accounts
                .count(key(account.endpoint, name, network), now);
        }
        let all = (account.endpoint, network);
        let wait = counts.addresses.wait(&all, ADDRESS_MAX, now);
        counts.addresses.count(all, now);
        wait.map_or(Ok(()), |wait| Err(too_many("attempts failed", wait)))
    }

    /// Forgets the account's failures from this address. Those of the address stay: who has one
    /// account of his own must not have endless guesses at nobody's.
    pub fn succeeded(&self, account: Account<'_>, address: IpAddr) {
        if let Some(name) = account.name {
            let mut counts = self.counts();
            counts
                .accounts
                .forget(&key(account.endpoint, name, counted(address)));
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accounts are told apart as sign-in does it: not by the case of their letters.
fn key(endpoint: Endpoint, name: &str, address: IpAddr) -> (Endpoint, Digest, IpAddr) {
    let name = secret::digest(name.to_ascii_lowercase().as_bytes());
    (endpoint, name, address)
}

/// The address that attempts count for: of IPv6 the network of 64 bits, any address of which its
/// holder can take.
#[must_use]
pub fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let network = u128::from(v6) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        IpAddr::V4(v4) => IpAddr::V4(v4),
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

struct Window {
    begun: Instant,
    count: u32,
}

/// How often something happened, by key, each in a window from its first time on.
pub(super) struct Windows<K> {
    length: Duration,
    kept: HashMap<K, Window>,
}

impl<K: Hash + Eq + Clone> Windows<K> {
    /// Windows of this length.
    pub(super) fn new(length: Duration) -> Self {
        Self {
            length,
            kept: HashMap::new(),
        }
    }

    fn left(&self, window: &Window, now: Instant) -> Option<Duration> {
        self.length
            .checked_sub(now.saturating_duration_since(window.begun))
            .filter(|left| !left.is_zero())
    }

    /// How long to wait, where `most` are in the window.
    pub(super) fn wait(&self, key: &K, most: u32, now: Instant) -> Option<Duration> {
        let window = self.kept.get(key)?;
        self.left(window, now).filter(|_| window.count >= most)
    }

    /// Counts one more.
    pub(super) fn count(&mut self, key: K, now: Instant) {
        if self.kept.len() >= WINDOWS_MAX && !self.kept.contains_key(&key) {
            self.make_room(now);
        }
        let fresh = || Window {
            begun: now,
            count: 0,
        };
        let over = self
            .kept
            .get(&key)
            .is_some_and(|window| self.left(window, now).is_none());
        let window = self.kept.entry(key).or_insert_with(fresh);
        if over {
            *window = fresh();
        }
        window.count = window.count.saturating_add(1);
    }

    fn forget(&mut self, key: &K) {
        self.kept.remove(key);
    }

    /// Drops the windows that ended, or else the oldest one.
    fn make_room(&mut self, now: Instant) {
        let length = self.length;
        self.kept
            .retain(|_, window| now.saturating_duration_since(window.begun) < length);
        if self.kept.len() >= WINDOWS_MAX {
            let oldest = self.kept.iter().min_by_key(|(_, window)| window.begun);
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
        assert!(throttle.check(ada(), HERE, start + WINDOW).is_ok());
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
        let mut windows = Windows::new(WINDOW);
        let start = Instant::now();
        for (key, millis) in (0..=WINDOWS_MAX).zip(0..) {
            windows.count(key, start + Duration::from_millis(millis));
        }
        assert_eq!(windows.kept.len(), WINDOWS_MAX);
        assert!(!windows.kept.contains_key(&0) && windows.kept.contains_key(&WINDOWS_MAX));
        windows.count(0, start + 2 * WINDOW);
        assert_eq!(windows.kept.len(), 1);
    }
}
