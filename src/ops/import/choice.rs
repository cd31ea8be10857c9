//! Answers of an operator where a list does not say something itself.

/// Declares an enum of answers, each with its name on the command line and its label in the console.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal, $label:literal;)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            #[must_use]
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }

            /// The names of all answers, with their labels.
            #[must_use]
            pub fn choices() -> Vec<(&'static str, &'static str)> {
                vec![$(($text, $label)),+]
            }

            /// The answer of a name.
            ///
            /// # Errors
            /// [`crate::types::error::Kind::Invalid`], with the names that there are.
            pub fn parse(text: &str) -> $crate::types::error::Result<Self> {
                let known = Self::ALL.iter().copied().find(|one| one.name() == text);
                known.ok_or_else(|| {
                    let names = [$($text),+].join(", ");
                    $crate::types::error::Error::invalid(format!("must be one of {names}"))
                })
            }
        }
    };
}

pub(super) use choice;

choice! {
    /// The text of a number that its format shows with zeros in front.
    Numbers {
        /// The label on screen.
        Shown = "shown", "as they are shown, with the zeros";
        /// The stored name.
        Stored = "stored", "as they are stored, without the zeros";
    }
}

choice! {
    /// The treatment of rows that a filter hides.
    HiddenRows {
        Import = "import", "import them";
        Drop = "drop", "leave them out";
    }
}
