//! The flag `e`: whoever fetches the picture in an e-mail has opened it; whoever makes its address up
//! has done nothing.

use super::Post;
use crate::harness::{has, lacks, whole};
use reqwest::Method;
use serde_json::json;

/// The path of the picture in the mail.
fn picture(text: &str) -> String {
    // Lines are folded on the wire (quoted-printable).
    let text = text.replace("=\r\n", "").replace("=3D", "=");
    let at = text
        .find("/o/")
        .unwrap_or_else(|| panic!("no picture in {text}"));
    let path = text[at..].split('"').next().expect("an end");
    path.to_owned()
}

#[test]
fn whoever_opens_a_mail_gets_the_flag_and_nobody_else() {
    let post = Post::open_at(Some("https://gate.example.org"));
    let api = post.server.caller_with_all();
    let ada = format!("/delegate/id:{}", post.ada);
    api.patch(&ada, &json!({"rawFlags": "vp"})).data();
    let id = post.welcome();
    let ask = json!({"email_id": id, "delegate_id": post.ada});
    assert_eq!(post.flags(&ask), (false, true));
    let mails = post.mail.wait_for(1);
    let path = picture(&mails[0].text);
    has(
        mails[0].text.replace("=\r\n", ""),
        "https://gate.example.org/o/",
    );
    let fetch = |path: &str| whole(post.server.request(Method::GET, path));
    let flags = || api.read(&ada)["rawFlags"].clone();
    let audited = || post.server.count("audit WHERE actor = 'mail'");

    let right = path.strip_prefix("/o/").expect("its place").to_owned();
    let signature = right.split('-').nth(1).expect("a signature").to_owned();
    let (first, rest) = signature.split_at(1);
    let turned = if first == "0" { "1" } else { "0" };
    let pictures: Vec<Vec<u8>> = [
        format!("/o/1-{turned}{rest}"),
        format!("/o/2-{signature}"),
        format!("/o/01-{signature}"),
        format!("/o/-1-{signature}"),
        "/o/1.gif".into(),
        "/o/1-.gif".into(),
        "/o/.gif".into(),
        "/o/%00.gif".into(),
        format!("/o/{}.gif", "9".repeat(500)),
        format!("/o/1-{}.gif", "0".repeat(32)),
        right
            .trim_end_matches(".gif")
            .to_owned()
            .replace("1-", "/o/1-"),
    ]
    .iter()
    .map(|forged| {
        let answer = fetch(forged);
        assert_eq!(answer.reply.status, 200, "{forged}");
        assert_eq!(answer.header("content-type"), "image/gif", "{forged}");
        assert_eq!(flags(), "pv", "{forged}");
        answer.text.into_bytes()
    })
    .collect();
    assert_eq!(audited(), 0);

    let opened = fetch(&path);
    assert_eq!(opened.header("cache-control"), "no-store");
    assert!(
        pictures
            .iter()
            .all(|picture| *picture == opened.text.as_bytes())
    );
    assert_eq!(flags(), "epv");
    assert_eq!(audited(), 1);
    fetch(&path);
    assert_eq!((flags(), audited()), (json!("epv"), 1), "once is enough");
    let kept = post.server.count("messages WHERE opened_at IS NOT NULL");
    assert_eq!(kept, 1);
    // Somebody took the flag away: opening the same mail again does not bring it back.
    api.patch(&ada, &json!({"rawFlags": "pv"})).data();
    fetch(&path);
    assert_eq!(flags(), "pv");
}

#[test]
fn without_a_public_address_there_is_no_picture() {
    let post = Post::open();
    let id = post.welcome();
    post.flags(&json!({"email_id": id, "delegate_id": post.ada}));
    let mails = post.mail.wait_for(1);
    lacks(&mails[0].text, ["/o/", "<img"]);
}

#[test]
fn the_picture_of_an_erased_person_changes_nothing() {
    let post = Post::open_at(Some("https://gate.example.org"));
    let id = post.welcome();
    post.flags(&json!({"email_id": id, "delegate_id": post.ada}));
    let path = picture(&post.mail.wait_for(1)[0].text);
    let api = post.server.caller_with_all();
    api.delete(&format!("/delegate/id:{}", post.ada)).is(204);
    let answer = whole(post.server.request(Method::GET, &path));
    assert_eq!(answer.reply.status, 200);
    let flagged = post.server.count("delegates WHERE raw_flags IS NOT NULL");
    assert_eq!(flagged, 0, "a deleted record stays as it is");
}
