//! The delegates in the console.

mod badge;

mod form;
mod gate;
mod merge;
mod search;
mod views;

use super::Crew;

/// The fields of the page's last form with an action that ends so, as a browser would send them
/// untouched.
pub fn fields(html: &str, action: &str) -> Vec<(String, String)> {
    let form = html
        .split("<form")
        .find(|form| {
            form.split('>')
                .next()
                .is_some_and(|head| head.contains(&format!("{action}\"")))
        })
        .unwrap_or_else(|| panic!("no form {action} in {html}"));
    let form = form.split("</form>").next().expect("a form");
    let attribute = |tag: &str, name: &str| {
        let rest = tag.split(&format!(" {name}=\"")).nth(1)?;
        Some(plain(rest.split('"').next()?))
    };
    let mut fields = Vec::new();
    for tag in form.split('<').skip(1) {
        let (head, rest) = tag.split_once('>').unwrap_or((tag, ""));
        let Some(name) = attribute(head, "name") else {
            continue;
        };
        let kind = attribute(head, "type").unwrap_or_default();
        let chosen = !matches!(kind.as_str(), "checkbox" | "radio") || head.contains(" checked");
        if name == "csrf" || !chosen {
            continue;
        }
        if head.starts_with("textarea") {
            fields.push((name, plain(rest)));
        } else if head.starts_with("input") {
            fields.push((name, attribute(head, "value").unwrap_or_default()));
        }
    }
    fields
}

/// A text without HTML's escapes.
fn plain(html: &str) -> String {
    html.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

/// Sets a field of a form.
pub fn set(fields: &mut [(String, String)], name: &str, value: &str) {
    let field = fields.iter_mut().find(|(known, _)| known == name);
    value.clone_into(&mut field.expect("the form has the field").1);
}

/// Sends fields.
pub fn send(crew: &Crew, path: &str, fields: &[(String, String)]) -> super::Page {
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    crew.post(path, &fields)
}
