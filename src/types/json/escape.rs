//! Escapes within a JSON string (RFC 8259, section 7), for texts that are looked at without being read.

/// The UTF-16 code unit that an escape such as `\u00fc` at the beginning of a text stands for; half a
/// letter, where it is one of a surrogate pair. `None` where no such escape stands there.
#[must_use]
pub fn code_unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_is_four_hexadecimal_digits() {
        for (text, unit) in [
            (&b"\\u00fcber"[..], Some(0xfc)),
            (b"\\uD83d", Some(0xd83d)),
            (b"\\u00f", None),
            (b"\\u+0fc", None),
            (b"\\n0000", None),
            (b"u00fc00", None),
            (b"\\u00\xc3\xbc", None),
            (b"", None),
        ] {
            assert_eq!(code_unit(text), unit, "{text:?}");
        }
    }
}
