//! The answer of the other side of a gateway, without the secret: servers repeat what they were sent.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

const MASK: &str = "•••";
/// Shorter secrets would be found in every second word: of what repeats one nothing is shown.
const TOLD_APART_BYTES: usize = 4;

/// The words of the other side, without the secret in any of the forms in which it was sent: plain,
/// escaped for JSON or an address, or in Base64, alone or with a user's name.
pub(super) fn masked(words: &str, secret: &str) -> String {
    if secret.is_empty() || (secret.len() < TOLD_APART_BYTES && !words.contains(secret)) {
        return words.to_owned();
    }
    if secret.len() < TOLD_APART_BYTES {
        return MASK.to_owned();
    }
    let quoted = serde_json::Value::from(secret).to_string();
    let quoted = &quoted[1..quoted.len() - 1];
    words
        .replace(secret, MASK)
        .replace(quoted, MASK)
        .replace(&quoted.replace('/', "\\/"), MASK)
        .split_inclusive(|letter| !is_of_token(letter))
        .map(|part| {
            let token = part.trim_end_matches(|letter| !is_of_token(letter));
            if hides(token, secret) {
                MASK.to_owned() + &part[token.len()..]
            } else {
                part.to_owned()
            }
        })
        .collect()
}

fn is_of_token(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "+/=%-_.~*!'()&?".contains(letter)
}

/// Returns whether a word of an answer is the secret in another form.
fn hides(token: &str, secret: &str) -> bool {
    let unescaped = |text: &str| {
        let plain = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
        plain.contains(secret)
    };
    let in_base64 = |part: &str| {
        let part = part.trim_end_matches('=');
        let decoded = STANDARD_NO_PAD
            .decode(part)
            .or_else(|_| URL_SAFE_NO_PAD.decode(part));
        decoded.is_ok_and(|bytes| {
            bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes())
        })
    };
    unescaped(token)
        || unescaped(&token.replace('+', " "))
        || in_base64(token)
        || token.split(['&', '?', '=']).any(in_base64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn no_form_of_the_secret_is_shown() {
        let secret = "SUPER/SECRET+GW&9 x";
        let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        for form in [
            secret.to_owned(),
            "SUPER\\/SECRET+GW&9 x".into(),
            encoded.clone(),
            encoded
                .to_lowercase()
                .replace("super", "SUPER")
                .replace("secret", "SECRET")
                .replace("gw", "GW"),
            percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC)
                .to_string(),
            STANDARD.encode(secret),
            STANDARD.encode(format!("user:{secret}")),
            STANDARD.encode(format!("\0user\0{secret}")),
            URL_SAFE_NO_PAD.encode(format!("u:{secret}")),
        ] {
            let shown = masked(
                &format!("400: bad \"{form}\" in /sms?k={form}, sorry"),
                secret,
            );
            assert!(shown.starts_with("400: bad \"•••\" in "), "{shown}");
            assert!(shown.ends_with("•••, sorry"), "{shown}");
        }
        let words = "550 no such user, see https://example.org/help?id=12";
        assert_eq!(masked(words, secret), words);
        assert_eq!(masked("it was abc", "abc"), MASK);
        assert_eq!(masked("it was", "abc"), "it was");
    }
}
