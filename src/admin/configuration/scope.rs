//! Whose settings: those of all apps, of the devices of a type, or of the device with a code.

use crate::{
    admin::Fields,
    domain::{
        apps::{Document, Settings},
        devices,
    },
    types::{error::Result, text},
};
use rusqlite::Connection;

/// Whose settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    All,
    Type(String),
    /// By code: so it can be prepared at the office.
    Device(String),
}

impl Scope {
    /// What a query string or a form names.
    ///
    /// # Errors
    /// [`crate::types::error::Kind::Invalid`] for a type or code that cannot be one.
    pub fn read(fields: &Fields) -> Result<Self> {
        if let Some(kind) = fields.filled("type") {
            text::check_code("type", kind)?;
            return Ok(Self::Type(kind.to_owned()));
        }
        if let Some(code) = fields.sent("code").filter(|code| !code.is_empty()) {
            text::check_code("code", code)?;
            return Ok(Self::Device(code.to_owned()));
        }
        Ok(Self::All)
    }

    /// The page on which its settings are changed.
    pub fn path(&self) -> String {
        let (name, value) = match self {
            Self::All => return "/console/configuration/edit".to_owned(),
            Self::Type(kind) => ("type", kind),
            Self::Device(code) => ("code", code),
        };
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair(name, value)
            .finish();
        format!("/console/configuration/edit?{query}")
    }

    /// The type, of a scope of one; empty otherwise.
    pub fn kind(&self) -> &str {
        match self {
            Self::Type(kind) => kind,
            _ => "",
        }
    }

    /// The code, of a device's scope; empty otherwise.
    pub fn code(&self) -> &str {
        match self {
            Self::Device(code) => code,
            _ => "",
        }
    }

    /// Whether it is that of all apps.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// Its own settings in a document.
    pub fn settings(&self, document: &Document) -> Settings {
        let own = match self {
            Self::All => Some(&document.default),
            Self::Type(kind) => document.by_type.get(kind),
            Self::Device(code) => document.by_device.get(code),
        };
        own.cloned().unwrap_or_default()
    }

    /// Gives it other settings; without any it is as if it had never been named.
    pub fn put(&self, document: &mut Document, settings: Settings) {
        let (overrides, key) = match self {
            Self::All => {
                document.default = settings;
                return;
            }
            Self::Type(kind) => (&mut document.by_type, kind),
            Self::Device(code) => (&mut document.by_device, code),
        };
        if settings.is_empty() {
            overrides.remove(key);
        } else {
            overrides.insert(key.clone(), settings);
        }
    }

    /// What holds where it says nothing itself.
    pub fn base(&self, connection: &Connection, document: &Document) -> Result<Settings> {
        let above = match self {
            Self::All => return Ok(Document::built_in().default),
            Self::Type(_) => Document {
                default: document.default.clone(),
                ..Document::default()
            },
            Self::Device(_) => Document {
                default: document.default.clone(),
                by_type: document.by_type.clone(),
                ..Document::default()
            },
        };
        let device = devices::with_code(connection, self.code())?;
        let kind = device
            .map(|device| device.kind)
            .filter(|kind| !kind.is_empty());
        Ok(above.effective(kind.as_deref(), self.code()))
    }

    /// What it is called.
    pub fn called(&self, connection: &Connection) -> Result<String> {
        Ok(match self {
            Self::All => "All apps".to_owned(),
            Self::Type(kind) => format!("Devices of the type {kind}"),
            Self::Device(code) => match devices::with_code(connection, code)? {
                Some(device) => device.name,
                None => format!("The device with the code {code} (there is none yet)"),
            },
        })
    }
}
