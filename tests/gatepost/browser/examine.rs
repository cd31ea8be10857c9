//! What keeps people out of a page: axe-core's findings, a page that is wider than its window, and
//! what the browser itself complains about.

use super::window::{Browser, View};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// How pages are looked at: at a desk and on a phone, by day and in the dark.
pub const VIEWS: [View; 4] = [
    view(1440, 900, "light"),
    view(1440, 900, "dark"),
    view(390, 844, "light"),
    view(390, 844, "dark"),
];

const fn view(width: u32, height: u32, scheme: &'static str) -> View {
    View {
        width,
        height,
        scheme,
    }
}

/// axe-core, as `tests/run` installs it.
pub struct Examiner {
    source: String,
    views: &'static [View],
}

impl Examiner {
    pub fn installed() -> Self {
        let path = installed();
        let source = std::fs::read_to_string(&path).unwrap_or_else(|cause| {
            panic!(
                "{}: {cause}: `tests/run` installs it, which takes npm (Debian: apt-get install npm) and the network",
                path.display()
            )
        });
        Self {
            source,
            views: &VIEWS,
        }
    }

    /// Looks at words alone, not at colours: once in each width.
    #[must_use]
    pub fn of_words(self) -> Self {
        const WORDS: [View; 2] = [VIEWS[0], VIEWS[3]];
        Self {
            views: &WORDS,
            ..self
        }
    }

    /// Looks at the page in every view; what is wrong with it.
    #[track_caller]
    pub fn faults(&self, browser: &Browser, page: &str) -> Vec<String> {
        let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for view in self.views.iter().copied() {
            browser.look(view);
            for fault in self
                .violations(browser, view)
                .into_iter()
                .chain(overflow(browser))
                .chain(crushed(browser))
            {
                let seen = format!("{} {}", view.width, view.scheme);
                faults.entry(fault).or_default().push(seen);
            }
        }
        browser.look(super::window::DESK);
        let complaints = browser.complaints().into_iter();
        faults
            .into_iter()
            .map(|(fault, views)| format!("{page}: {fault} ({})", views.join(", ")))
            .chain(complaints.map(|complaint| format!("{page}: {complaint}")))
            .collect()
    }

    /// All rules hold in each width and in each colour scheme; beyond that, contrast holds in every view.
    fn violations(&self, browser: &Browser, view: View) -> Vec<String> {
        if browser.run("return typeof axe", &[]) == "undefined" {
            browser.run(&self.source, &[]);
        }
        let rules = if (view.width < 600) == (view.scheme == "dark") {
            ""
        } else {
            ", runOnly: ['color-contrast']"
        };
        let script = format!(
            "const [tell] = arguments;
             axe.run(document, {{resultTypes: ['violations']{rules}}}).then(
                 (result) => tell(result.violations.map((rule) => {{
                     const node = rule.nodes[0];
                     const why = node.any.concat(node.all, node.none).map((check) => check.message);
                     return `${{rule.id}} at ${{rule.nodes.length}} places: ${{rule.help}}: ${{node.html.slice(0, 200)}}: ${{why.join('; ')}}`;
                 }})),
                 (cause) => tell([String(cause)]));",
        );
        let found = browser.run_until_told(&script);
        let found = found.as_array().expect("a list").iter();
        found
            .map(|fault| fault.as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// Words that have so little room that they stand with a letter or two on each line.
fn crushed(browser: &Browser) -> Option<String> {
    let crushed = browser.run(
        "const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
         const range = document.createRange(), found = [];
         while (walker.nextNode()) {
             const text = walker.currentNode.textContent.trim();
             if (!/\\p{L}{5}/u.test(text)) continue;
             range.selectNodeContents(walker.currentNode);
             // What is folded away or there for screen readers alone has no room at all.
             if (!walker.currentNode.parentElement.checkVisibility()) continue;
             let above = walker.currentNode.parentElement;
             while (above && getComputedStyle(above).clipPath === 'none') above = above.parentElement;
             if (above) continue;
             const lines = range.getClientRects();
             if (lines.length > 3 && lines.length * 3 > text.length) found.push(text.slice(0, 40));
         }
         return found.length ? `crushed: ${found.slice(0, 5).join(' | ')}` : null",
        &[],
    );
    crushed.as_str().map(ToOwned::to_owned)
}

/// How far the page reaches beyond its window.
fn overflow(browser: &Browser) -> Option<String> {
    let wide = browser.run(
        "const page = document.documentElement;
         if (page.scrollWidth <= page.clientWidth) return null;
         const beyond = [...document.querySelectorAll('body *')]
             .filter((element) => element.getBoundingClientRect().right > page.clientWidth + 1
                 || element.scrollWidth > element.clientWidth + 1)
             .map((element) => `${element.tagName}.${element.className}`);
         return `${page.scrollWidth} px wide: ${beyond.slice(0, 12).join(' ')}`",
        &[],
    );
    match wide {
        Value::String(told) => Some(told),
        _ => None,
    }
}

/// Where `tests/run` installs it: beside the build's profiles.
fn installed() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_gatepost"));
    let target = binary.ancestors().nth(2).expect("the target folder");
    target.join("axe/node_modules/axe-core/axe.min.js")
}
