//! The API reference page at `/docs`. It is whole in itself, so its policy allows its own scripts and
//! styles, by their hashes, and calls to this server; nothing from anywhere else.

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::{Endpoint, Response, endpoint::make_sync, http::header};
use sha2::{Digest, Sha256};

/// The endpoint that shows the page.
pub fn page(html: String) -> impl Endpoint {
    let policy = policy(&html);
    let html = bytes::Bytes::from(html);
    make_sync(move |_| {
        Response::builder()
            .content_type("text/html; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-cache")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .header(header::REFERRER_POLICY, "no-referrer")
            .header(header::CONTENT_SECURITY_POLICY, policy.as_str())
            .body(html.clone())
    })
}

fn policy(html: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src 'self' data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hashes(html, "script"),
        hashes(html, "style"),
    )
}

/// The hashes of the contents of every such element, as a policy names them.
fn hashes(html: &str, element: &str) -> String {
    let (opening, closing) = (format!("<{element}"), format!("</{element}>"));
    let mut hashes = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once(&opening) {
        let Some((content, after)) = after
            .split_once('>')
            .and_then(|(_, content)| content.split_once(&closing))
        else {
            break;
        };
        let digest = Sha256::digest(content.as_bytes());
        hashes.push(format!("'sha256-{}'", STANDARD.encode(digest)));
        rest = after;
    }
    hashes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_has_its_hash() {
        let html = "<style a>s</style><script charset=\"UTF-8\">a <b</script><p><script>b</script>";
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let both = format!("{} {}", hash("a <b"), hash("b"));
        assert_eq!(hashes(html, "script"), both);
        assert!(policy(html).contains(&format!("style-src {};", hash("s"))));
    }
}
