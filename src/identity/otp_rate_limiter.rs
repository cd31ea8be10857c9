//! How often codes are asked for: by e-mail address, so that nobody's mailbox is flooded and guesses
//! at their codes stay few, by network address and by client. It counts what is asked, whether anybody
//! has that e-mail address or not: so it tells nothing.

use super::throttle::{Windows, counted, too_many};
use crate::types::secret::{self, Digest};
use crate::types::{ClientId, error::Result};
use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Codes for one e-mail address within ten minutes, in which one is good.
const EMAIL_MAX: u32 = 5;
/// Codes for one e-mail address in a day. With five guesses at each, somebody who does nothing else
/// is right once in twenty years.
const EMAIL_DAY_MAX: u32 = 25;
/// Codes asked for from one address in a minute; a whole venue may stand behind one.
const ADDRESS_MAX: u32 = 60;
/// Codes asked for by one client in a minute: everybody may have the same app.
const CLIENT_MAX: u32 = 300;

/// What was asked for lately. The time is passed in.
pub struct OtpRateLimiter(Mutex<Counts>);

struct Counts {
    emails: Windows<Digest>,
    email_days: Windows<Digest>,
    addresses: Windows<IpAddr>,
    clients: Windows<Option<ClientId>>,
}

impl Default for OtpRateLimiter {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self(Mutex::new(Counts {
            emails: Windows::new(10 * minute),
            email_days: Windows::new(24 * 60 * minute),
            addresses: Windows::new(minute),
            clients: Windows::new(minute),
        }))
    }
}

impl OtpRateLimiter {
    /// Counts that a code is asked for, by a client or on the page that needs none.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::TooManyAttempts`] when there were too many; that one does not count.
    pub fn ask(
        &self,
        email: &str,
        client: Option<ClientId>,
        address: IpAddr,
        now: Instant,
    ) -> Result<()> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let email = secret::digest(email.to_ascii_lowercase().as_bytes());
        let address = counted(address);
        let wait = counts
            .emails
            .wait(&email, EMAIL_MAX, now)
            .max(counts.email_days.wait(&email, EMAIL_DAY_MAX, now))
            .max(counts.addresses.wait(&address, ADDRESS_MAX, now))
            .max(counts.clients.wait(&client, CLIENT_MAX, now));
        if let Some(wait) = wait {
            return Err(too_many("codes were asked for", wait));
        }
        counts.emails.count(email, now);
        counts.email_days.count(email, now);
        counts.addresses.count(address, now);
        counts.clients.count(client, now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::error::Kind;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn there(last: u8) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, last))
    }

    #[test]
    fn five_codes_for_one_address_in_ten_minutes_wherever_they_are_asked_for() {
        let (otp_rate_limiter, start) = (OtpRateLimiter::default(), Instant::now());
        for at in 0..5 {
            otp_rate_limiter
                .ask("ada@example.org", None, there(at), start)
                .unwrap();
        }
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
    fn one_network_address_and_one_client_have_an_end() {
        let (otp_rate_limiter, now) = (OtpRateLimiter::default(), Instant::now());
        for at in 0..ADDRESS_MAX {
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
        for at in 0..CLIENT_MAX {
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
