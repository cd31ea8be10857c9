//! The paths of regions. A path says for what a region is rendered: one that starts with
//! `/api/delegate-info` for a delegate, one that starts with `/api/device-info` for a device.

use crate::{
    core::{records::REFERENCE, template},
    domain::{delegates, devices},
    types::{
        error::{Error, Kind, Result},
        text::shortened,
    },
};

/// The most regions that one request may ask for.
const ASKED_MAX: usize = 20;
const PATH_MAX_BYTES: usize = 200;

/// The kind of record that a region is rendered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Delegate,
    Device,
}

impl Of {
    /// The prefix of its paths, which is also the path of the region that is meant where none is
    /// named.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Delegate => "/api/delegate-info",
            Self::Device => "/api/device-info",
        }
    }

    /// The name of the record, in templates and to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Device => "device",
        }
    }

    /// The names that templates of such regions may use.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Delegate => &["delegate", "settings", "now"],
            Self::Device => &["device", "settings", "now"],
        }
    }

    /// The properties of the record, in templates.
    pub fn properties(self) -> Vec<&'static str> {
        let all = match self {
            Self::Delegate => delegates::FIELDS,
            Self::Device => devices::FIELDS,
        };
        all.iter().map(|property| property.name).collect()
    }

    /// Checks a template of such a region.
    pub fn check(self, content: &str) -> Result<(), template::Fault> {
        let properties = self.properties();
        let references =
            ["parent", "previous", "owner"].map(|name| format!("{}.{name}", self.name()));
        let mut known: Vec<template::Known<'_>> = vec![
            (self.name(), &properties),
            ("settings", &["name"]),
            ("now", &[]),
        ];
        known.extend(references.iter().map(|path| (path.as_str(), REFERENCE)));
        template::check(content, self.names(), &known)
    }

    /// Returns whether a path starts with the prefix, letter by letter; `/api/delegate-info-vip` does as well (spec:
    /// Delegate endpoints, rule 2).
    fn holds(self, path: &str) -> bool {
        path.starts_with(self.prefix())
    }

    /// Returns the kind of record that a path's region is rendered for, if it is a path that a region can have.
    pub fn path(path: &str) -> Result<Self> {
        let of = [Self::Delegate, Self::Device]
            .into_iter()
            .find(|of| of.holds(path));
        let plain = path
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte));
        let whole = !path.ends_with('/') && !path.contains("//");
        of.filter(|_| plain && whole && path.len() <= PATH_MAX_BYTES)
            .ok_or_else(|| {
                Error::invalid(format!(
                    "must start with /api/delegate-info or /api/device-info, and may go on, such as /api/delegate-info/schedule, in letters, digits, - _ and ., of at most {PATH_MAX_BYTES} characters; not \"{}\"",
                    shortened(path)
                ))
                .at("path")
            })
    }

    /// The paths that a request asks for, in its order: separated by commas, white space around each
    /// not counted; the prefix itself where there are none.
    ///
    /// # Errors
    /// [`Kind::RegionUnavailable`], naming a path outside the prefix; [`Kind::Invalid`] for more than
    /// twenty.
    pub fn asked(self, region: Option<&str>) -> Result<Vec<String>> {
        let region = region.unwrap_or_default().trim();
        if region.is_empty() {
            return Ok(vec![self.prefix().to_owned()]);
        }
        let paths: Vec<String> = region
            .split(',')
            .map(|path| path.trim().to_owned())
            .collect();
        if paths.len() > ASKED_MAX {
            return Err(Error::field(
                "region",
                format!("at most {ASKED_MAX} paths at once"),
            ));
        }
        match paths.iter().find(|path| !self.holds(path)) {
            None => Ok(paths),
            Some(outside) => Err(Error::new(
                Kind::RegionUnavailable,
                format!(
                    "\"{}\" does not start with {}",
                    shortened(outside),
                    self.prefix()
                ),
            )
            .at("region")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_in_order_and_trimmed() {
        for (asked, paths) in [
            (None, vec!["/api/delegate-info"]),
            (Some(""), vec!["/api/delegate-info"]),
            (Some("  "), vec!["/api/delegate-info"]),
            (
                Some(" /api/delegate-info/b ,\t/api/delegate-info,/api/delegate-info/b"),
                vec![
                    "/api/delegate-info/b",
                    "/api/delegate-info",
                    "/api/delegate-info/b",
                ],
            ),
        ] {
            assert_eq!(Of::Delegate.asked(asked).unwrap(), paths);
        }
    }

    #[test]
    fn the_prefix_is_exact() {
        let beside = Some("/api/delegate-info-vip,/api/delegate-info/vip");
        assert_eq!(Of::Delegate.asked(beside).unwrap().len(), 2);
        for outside in [
            "/api/delegate-inf",
            "/api/device-info",
            "api/delegate-info",
            "/API/delegate-info",
            "/api/delegate-info/a,,/api/delegate-info",
            "/api/delegate-info,",
            "x",
            "/x/api/delegate-info",
        ] {
            let refused = Of::Delegate.asked(Some(outside)).unwrap_err();
            assert_eq!(refused.kind, Kind::RegionUnavailable, "{outside}");
        }
        assert_eq!(
            Of::Delegate
                .asked(Some(&["/api/delegate-info"; 21].join(",")))
                .unwrap_err()
                .kind,
            Kind::Invalid
        );
    }

    #[test]
    fn a_region_has_a_path_that_can_be_asked_for() {
        for (path, of) in [
            ("/api/delegate-info", Of::Delegate),
            ("/api/delegate-info/a/b-c_d.e", Of::Delegate),
            ("/api/delegate-info-vip", Of::Delegate),
            ("/api/device-info/x", Of::Device),
        ] {
            assert_eq!(Of::path(path).unwrap(), of);
        }
        for wrong in [
            "",
            "/",
            "/api/delegate-info/",
            "/api/delegate-info//x",
            "/api/delegate-info/a,b",
            "/api/delegate-info/a b",
            "/api/delegate-infé",
            " /api/delegate-info",
        ] {
            assert!(Of::path(wrong).is_err(), "{wrong}");
        }
        assert!(Of::path(&format!("/api/device-info/{}", "a".repeat(300))).is_err());
    }

    #[test]
    fn templates_read_what_the_record_has() {
        for of in [Of::Delegate, Of::Device] {
            let name = of.name();
            for property in of.properties() {
                let read = format!("{{{{ {name}.{property} }}}}");
                assert_eq!(of.check(&read), Ok(()));
            }
            let fault = of
                .check(&format!("\n{{{{ {name}.createdat }}}}"))
                .unwrap_err();
            assert_eq!(fault.line, Some(2));
            assert!(fault.to_string().contains("createdAt"), "{fault}");
            let reference = format!("{{{{ {name}.parent.id }}}}{{{{ {name}.data.Any.thing }}}}");
            assert_eq!(of.check(&reference), Ok(()));
        }
    }
}
