//! Whether messages go to delegates, and by which ways (spec: send-comm, rule 7).

use crate::types::error::{Error, Result};
use serde_json::Value;

/// Whether messages go to delegates. What goes to users, such as one-time passwords, is not of it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Communications {
    /// Whether any do.
    pub enabled: bool,
    /// Whether e-mails do.
    pub email: bool,
    /// Whether texts do.
    pub sms: bool,
    /// Whether push messages do.
    pub push: bool,
    /// The country of phone numbers without a country code, as its calling code, such as `+49`; without
    /// it they cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_code: Option<String>,
}

impl Default for Communications {
    fn default() -> Self {
        Self {
            enabled: true,
            email: true,
            sms: true,
            push: true,
            country_code: None,
        }
    }
}

impl Communications {
    pub(super) fn parse(value: &Value) -> Result<Self> {
        if !value.is_object() {
            return Err(Error::invalid("communications: must be an object"));
        }
        let read: Self = serde_json::from_value(value.clone())
            .map_err(|cause| Error::invalid(format!("communications: {cause}")))?;
        if let Some(code) = &read.country_code {
            let digits = code.strip_prefix('+').unwrap_or_default();
            let right = (1..=3).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && !digits.starts_with('0');
            if !right {
                return Err(Error::invalid(
                    "communications.countryCode: must be such as +49",
                ));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_said_is_on() {
        let read = Communications::parse(&json!({"sms": false, "countryCode": "+49"})).unwrap();
        assert!(read.enabled && read.email && read.push && !read.sms);
        assert_eq!(
            Communications::parse(&json!({})).unwrap(),
            Communications::default()
        );
        for wrong in [
            json!({"sms": "no"}),
            json!({"letters": true}),
            json!({"countryCode": "49"}),
            json!({"countryCode": "+0"}),
            json!({"countryCode": "+4900"}),
            json!([]),
        ] {
            assert!(Communications::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
