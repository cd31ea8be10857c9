//! Passwords of users: argon2id, as PHC strings. Hashing takes long on purpose, so a request does it
//! on a thread that may wait, few do it at a time, and few wait: guesses never starve the gates.

use super::throttle::too_many;
use crate::types::error::{Error, Result};
use argon2::{Argon2, PasswordHasher, PasswordVerifier, password_hash::phc::PasswordHash};
use std::{fmt, time::Duration};
use tokio::sync::{Semaphore, SemaphorePermit};
use zxcvbn::{Score, feedback::Feedback, zxcvbn};

/// The shortest password.
const MIN_CHARS: usize = 8;
/// The longest password.
const MAX_BYTES: usize = 4096;
/// The most requests that wait for a permit; the next one is refused.
const WAITING_MAX: usize = 64;
/// The time after which a refused request may come again: by then most of those that wait had theirs.
const CROWDED_WAIT: Duration = Duration::from_secs(2);

/// Stands in for the hash of a user who does not exist or has no password, so that a guess at one
/// takes as long as any other. It has the cost of [`hash`].
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$Z2F0ZXBvc3QtdW5rbm93bg$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A password as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Hashed(String);

impl Hashed {
    /// The PHC string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hashed(…)")
    }
}

/// Checks and hashes a new password; takes tens of milliseconds.
pub fn hash(password: &str) -> Result<Hashed> {
    check_length(password)?;
    hash_any(password)
}

/// As [`hash`], for a user of the console: the password must not be easy to guess either.
pub fn hash_strong(password: &str, email: &str) -> Result<Hashed> {
    check_length(password)?;
    check_strength(password, email)?;
    hash_any(password)
}

fn check_length(password: &str) -> Result<()> {
    if password.chars().count() < MIN_CHARS {
        return Err(Error::field(
            "password",
            format!("must have at least {MIN_CHARS} characters"),
        ));
    }
    if password.len() > MAX_BYTES {
        return Err(Error::field(
            "password",
            format!("must have at most {MAX_BYTES} bytes"),
        ));
    }
    Ok(())
}

/// Refuses what a program that knows the user guesses within a day: common passwords, keyboard
/// patterns, dates, the user's own e-mail address, and what is put together from those.
fn check_strength(password: &str, email: &str) -> Result<()> {
    let own = [
        email,
        email.split('@').next().unwrap_or_default(),
        "gatepost",
    ];
    let estimate = zxcvbn(password, &own);
    if estimate.score() >= Score::Three {
        return Ok(());
    }
    let feedback = estimate.feedback();
    let reason = match feedback.and_then(Feedback::warning) {
        Some(warning) => warning.to_string(),
        None => "It has too few parts that are hard to guess.".to_owned(),
    };
    Err(Error::invalid(format!(
        "is too easy to guess. {reason} Use several uncommon words, or let a password manager make one"
    ))
    .at("password"))
}

fn hash_any(secret: &str) -> Result<Hashed> {
    let hash: PasswordHash = Argon2::default()
        .hash_password(secret.as_bytes())
        .map_err(|cause| Error::defect(format!("argon2: {cause}")))?;
    Ok(Hashed(hash.to_string()))
}

/// Returns whether the password is the one of the stored hash; without a hash never, but not sooner.
fn matches(password: &str, stored: Option<&str>) -> bool {
    let Ok(hash) = PasswordHash::new(stored.unwrap_or(NOBODY)) else {
        return false;
    };
    let verified = Argon2::default().verify_password(password.as_bytes(), &hash);
    verified.is_ok() && stored.is_some()
}

/// The permit to verify or hash a password.
pub struct Permit(SemaphorePermit<'static>);

/// The purpose of a hash. Each queue has turns of its own, so that guesses at the token endpoint never hold up
/// a sign-in to the console.
#[derive(Debug, Clone, Copy)]
pub enum Queue {
    /// Apps: the token endpoint, and codes that are sent.
    Api,
    Console,
}

struct Permits {
    at_once: Semaphore,
    waiting: Semaphore,
}

impl Permits {
    const fn new(at_once: usize) -> Self {
        Self {
            at_once: Semaphore::const_new(at_once),
            waiting: Semaphore::const_new(WAITING_MAX),
        }
    }

    async fn take(&'static self) -> Result<Permit> {
        if let Ok(permit) = self.at_once.try_acquire() {
            return Ok(Permit(permit));
        }
        let crowded = |_| too_many("sign-ins at once", CROWDED_WAIT);
        let _waiting = self.waiting.try_acquire().map_err(crowded)?;
        self.at_once
            .acquire()
            .await
            .map(Permit)
            .map_err(Error::defect)
    }
}

/// Waits for a permit. Whoever throttles guesses asks again once it has come: many may have waited
/// together.
///
/// # Errors
/// [`crate::types::error::Kind::TooManyAttempts`] when too many wait already.
pub async fn permit(queue: Queue) -> Result<Permit> {
    static API: Permits = Permits::new(2);
    static CONSOLE: Permits = Permits::new(1);
    match queue {
        Queue::Api => API.take().await,
        Queue::Console => CONSOLE.take().await,
    }
}

impl Permit {
    /// Returns whether the password is the one of the stored hash.
    pub async fn verify(self, password: String, stored: Option<String>) -> Result<bool> {
        self.run(move || matches(&password, stored.as_deref()))
            .await
    }

    /// As [`hash`], for a request.
    pub async fn hash(self, password: String) -> Result<Hashed> {
        self.run(move || hash(&password)).await?
    }

    /// As [`hash_strong`], for a request.
    pub async fn hash_strong(self, password: String, email: String) -> Result<Hashed> {
        self.run(move || hash_strong(&password, &email)).await?
    }

    /// Hashes a code that is as short as it is: it is good for a few guesses only.
    pub async fn hash_code(self, code: String) -> Result<Hashed> {
        self.run(move || hash_any(&code)).await?
    }

    /// Does other work that takes as long. The permit goes with it: a caller who hangs up does not make room for
    /// another.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        tokio::task::spawn_blocking(move || {
            let _turn = self.0;
            work()
        })
        .await
        .map_err(Error::defect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_matches_its_own_hash_alone() {
        let stored = hash("correct horse").unwrap();
        assert!(matches("correct horse", Some(stored.as_str())));
        assert!(!matches("correct horsf", Some(stored.as_str())));
        assert!(!matches("correct horse", None));
        assert!(!matches("correct horse", Some("not a hash")));
    }

    #[test]
    fn a_password_of_the_console_is_hard_to_guess() {
        let email = "ada.lovelace@example.org";
        for weak in [
            "password",
            "12345678",
            "qwertyuiop",
            "summer2026",
            "Passw0rd!",
            "ada.lovelace",
            "ada.lovelace@example.org",
            "gatepost1",
            "abcdabcdabcd",
        ] {
            let refused = hash_strong(weak, email).unwrap_err().to_string();
            assert!(
                refused.starts_with("password: is too easy to guess. "),
                "{weak}: {refused}"
            );
            assert!(weak == "password" || !refused.contains(weak), "{refused}");
            assert!(hash(weak).is_ok(), "{weak}");
        }
        assert!(
            hash_strong("short", email)
                .unwrap_err()
                .to_string()
                .contains("at least 8")
        );
        for strong in ["correct horse", "Tr0ub4dor&3", "8jw2-kd93-xq7a"] {
            assert!(hash_strong(strong, email).is_ok(), "{strong}");
        }
        // The longest takes no longer than others.
        assert!(check_strength(&"aB3$".repeat(MAX_BYTES / 4), email).is_err());
    }

    #[tokio::test]
    async fn few_wait_for_a_turn_and_the_next_one_is_refused() {
        static PERMITS: Permits = Permits::new(1);
        let permit = PERMITS.take().await.unwrap();
        let waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| tokio::spawn(PERMITS.take()))
            .collect();
        while PERMITS.waiting.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = PERMITS.take().await.err().unwrap();
        assert_eq!(
            refused.kind,
            crate::types::error::Kind::TooManyAttempts { retry_after_s: 2 }
        );
        drop(permit);
        for one in waiting {
            assert!(one.await.unwrap().is_ok());
        }
        assert!(PERMITS.take().await.is_ok());
    }

    #[test]
    fn nobody_costs_what_a_user_costs() {
        let costs = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        let stored = hash("correct horse").unwrap();
        assert_eq!(costs(NOBODY), costs(stored.as_str()));
        assert!(PasswordHash::new(NOBODY).is_ok());
    }

    #[test]
    fn a_new_password_has_at_least_eight_characters() {
        assert!(hash("äöüäöüä").is_err());
        assert!(hash(&"x".repeat(5000)).is_err());
        assert!(!format!("{:?}", hash("äöüäöüäö").unwrap()).contains("argon2"));
    }
}
