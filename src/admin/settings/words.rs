//! What the forms call the settings: messages name them as the API does, and people look for a field.

/// Settings, each with its field's label.
const LABELS: [(&str, &str); 16] = [
    ("name", "Name of the event or the venue"),
    ("timeZone", "Time zone"),
    ("publicUrl", "Address that apps reach this server by"),
    ("corsOrigins", "Web apps that may call the API"),
    ("access.ruleSet", "Who"),
    ("access.entry", "How often"),
    ("access.maxCheckIns", "Check-ins per person"),
    ("access.capacity", "People inside at a time"),
    ("access.opensBefore", "Opens before the start"),
    ("access.closesAfter", "Closes after the end"),
    ("backups.everyMinutes", "Every"),
    ("backups.keep", "Keep the newest"),
    ("backups.folder", "Folder"),
    (
        "oneTimePasswords",
        "Signing in to apps with a code by e-mail",
    ),
    ("email", "Your e-mail"),
    ("password", "A password"),
];

/// A message with the field's label in the place of the setting's name.
pub fn in_words(message: &str) -> String {
    let named = message.split_once(": ").and_then(|(name, rest)| {
        let (_, label) = LABELS.iter().find(|(known, _)| *known == name)?;
        Some(format!("{label}: {rest}"))
    });
    named.unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::settings::Settings;

    #[test]
    fn every_setting_of_a_form_is_called_as_there() {
        for name in Settings::NAMES {
            // Their forms say it themselves.
            if !["access", "backups", "outgoing", "communications"].contains(name) {
                let message = in_words(&format!("{name}: is wrong"));
                assert!(
                    message.ends_with(": is wrong") && !message.starts_with(name),
                    "{name}"
                );
            }
        }
        assert_eq!(in_words("nothing: is known"), "nothing: is known");
    }
}
