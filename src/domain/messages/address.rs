//! The people who can be reached, and the address of each: an e-mail address that servers take, a phone number with its
//! country (spec: send-comm, rule 7, "requirements").

use crate::types::error::{Error, Result};
use serde_json::Value;

/// The longest e-mail address (RFC 5321).
const EMAIL_MAX_CHARS: usize = 254;
/// The longest phone number, in digits, with what is dialled before it.
const DIGITS_MAX: usize = 20;
/// The longest push token that is taken.
const TOKEN_MAX_CHARS: usize = 4_096;
/// Push tokens of one delegate that are served, the newest.
const TOKENS_MAX: usize = 20;

/// An e-mail address, checked and without white space around it.
pub fn email(text: &str) -> Result<lettre::Address> {
    let text = text.trim();
    let wrong = || {
        Error::invalid(format!(
            "\"{}\" is no e-mail address",
            crate::types::text::shortened(text)
        ))
    };
    if text.is_empty() {
        return Err(Error::invalid("there is no e-mail address"));
    }
    let address: lettre::Address = text.parse().map_err(|_| wrong())?;
    // What servers of the world deliver to has a dot in its domain, or is a literal.
    let domain = address.domain();
    let far = domain.starts_with('[') || domain.trim_matches('.').contains('.');
    // Not to be quoted on the wire, where gateways disagree on how.
    let plain = !address.user().contains(['"', ' ', '<', '>', ',']);
    if far && plain && text.chars().count() <= EMAIL_MAX_CHARS {
        Ok(address)
    } else {
        Err(wrong())
    }
}

/// A phone number as gateways take it: `+` and 7 to 15 digits (E.164). Spaces, brackets, dots, dashes
/// and slashes are taken out, and `00` is read as `+`. A number without its country is of the `country`
/// whose code that is (such as `+49`), and is dialled there as it stands: with the zero that Italy keeps
/// and Germany drops, or without one, as in Spain.
pub fn phone(text: &str, country: Option<&str>) -> Result<String> {
    let wrong = || {
        Error::invalid(format!(
            "\"{}\" is no phone number such as +49 40 123456",
            crate::types::text::shortened(text)
        ))
    };
    // A zero that is dialled within the country alone: +49 (0) 40.
    let has_trunk_zero = text.contains("(0)");
    let plain: String = text
        .chars()
        .filter(|letter| {
            !letter.is_whitespace() && !"()-./\u{a0}\u{2011}\u{2013}".contains(*letter)
        })
        .collect();
    if plain.is_empty() {
        return Err(Error::invalid("there is no phone number"));
    }
    let plain = match plain.strip_prefix("00") {
        Some(rest) => format!("+{rest}"),
        None => plain,
    };
    let digits = plain.strip_prefix('+').unwrap_or(&plain);
    let is_long = |digits: &str| (7..=15).contains(&digits.len()) && !digits.starts_with('0');
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.len() > DIGITS_MAX {
        return Err(wrong());
    }
    let full = if !plain.starts_with('+') {
        let Some(country) = country else {
            return Err(Error::invalid(format!(
                "the phone number \"{}\" has no country code such as +49",
                crate::types::text::shortened(text)
            )));
        };
        within(&plain, country)
    } else if has_trunk_zero {
        phonenumber::parse(None, &plain)
            .ok()
            .map(|number| e164(&number))
    } else {
        // As it was written: it says all by itself, and what is known of countries grows old.
        Some(plain)
    };
    full.filter(|full| is_long(&full[1..])).ok_or_else(wrong)
}

/// A number as it is dialled within the country of a calling code, if it is one there.
fn within(digits: &str, calling_code: &str) -> Option<String> {
    let code: u16 = calling_code.strip_prefix('+')?.parse().ok()?;
    // Several countries share +1, +7 or +44; the first is the main one.
    let regions = phonenumber::metadata::DATABASE.region(&code)?;
    regions
        .iter()
        .filter_map(|region| phonenumber::parse(Some(region.parse().ok()?), digits).ok())
        .find(|number| number.country().code() == code && number.is_valid())
        .map(|number| e164(&number))
}

fn e164(number: &phonenumber::PhoneNumber) -> String {
    format!("+{}{}", number.country().code(), number.national())
}

/// The push tokens in `data` of a delegate (`data.Data.pushTokens`), each once.
pub fn push_tokens(data: &Value) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for token in data["Data"]["pushTokens"].as_array().into_iter().flatten() {
        let Some(token) = token.as_str().map(str::trim) else {
            continue;
        };
        let usable = !token.is_empty()
            && token.len() <= TOKEN_MAX_CHARS
            && !token.contains(|letter: char| letter.is_control());
        if usable && !tokens.iter().any(|known| known == token) {
            tokens.push(token.to_owned());
        }
    }
    let surplus = tokens.len().saturating_sub(TOKENS_MAX);
    tokens.split_off(surplus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_an_address_that_mail_can_go_to_is_one() {
        for (text, taken) in [
            ("ada@example.com", true),
            (" ada.l+tag@mail.example.com ", true),
            ("jürgen@exämple.com", true),
            ("", false),
            ("ada", false),
            ("ada@", false),
            ("ada@localhost", false),
            ("a b@example.com", false),
            ("ada@example.com, bob@example.com", false),
            ("Ada <ada@example.com>", false),
            ("ada@example.com\r\nBcc: bob@example.com", false),
            ("\"a\\\"b\"@example.com", false),
        ] {
            assert_eq!(email(text).is_ok(), taken, "{text}");
        }
        let long = format!("{}@example.com", "a".repeat(250));
        assert!(email(&long).is_err());
    }

    #[test]
    fn a_phone_number_needs_its_country() {
        for (text, country, taken) in [
            ("+49 40 123456", None, Some("+4940123456")),
            ("0049-40/123456", None, Some("+4940123456")),
            ("+49 (0) 40 123456", None, Some("+4940123456")),
            ("040 123456", Some("+49"), Some("+4940123456")),
            ("040 123456", None, None),
            ("12345", Some("+49"), None),
            ("170 1234567", Some("+49"), Some("+491701234567")),
            ("0170 1234567", Some("+49"), Some("+491701234567")),
            ("06 1234 5678", Some("+39"), Some("+390612345678")),
            ("+39 06 1234 5678", Some("+49"), Some("+390612345678")),
            ("+39 (0)6 1234 5678", None, Some("+390612345678")),
            ("347 123 4567", Some("+39"), Some("+393471234567")),
            ("612 345 678", Some("+34"), Some("+34612345678")),
            ("501 234 567", Some("+48"), Some("+48501234567")),
            ("(415) 555-2671", Some("+1"), Some("+14155552671")),
            ("1-415-555-2671", Some("+1"), Some("+14155552671")),
            ("416 555 0123", Some("+1"), Some("+14165550123")),
            ("020 7946 0018", Some("+44"), Some("+442079460018")),
            ("8 912 345-67-89", Some("+7"), Some("+79123456789")),
            ("612 345 678", None, None),
            ("612 345 678", Some("+999"), None),
            ("0".repeat(300).as_str(), Some("+39"), None),
            ("+49", None, None),
            ("+0123456789", None, None),
            ("+1234567890123456", None, None),
            ("+49 40 12a456", None, None),
            ("+4940123456\r\nX: y", None, None),
            ("", Some("+49"), None),
        ] {
            assert_eq!(phone(text, country).ok().as_deref(), taken, "{text}");
        }
    }

    #[test]
    fn tokens_are_taken_as_they_come_and_once() {
        let data = json!({"Data": {"pushTokens": ["a", "b", "a", 7, "", null, "c\nd"]}});
        assert_eq!(push_tokens(&data), ["a", "b"]);
        assert!(push_tokens(&json!({"Data": {"pushTokens": "a"}})).is_empty());
        assert!(push_tokens(&Value::Null).is_empty());
        let many: Vec<String> = (0..50).map(|number| format!("t{number}")).collect();
        let kept = push_tokens(&json!({"Data": {"pushTokens": many}}));
        assert_eq!((kept.len(), kept[19].as_str()), (20, "t49"));
    }
}
