//! A page of the handbook: Markdown in, HTML and searchable sections out.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::mem;

/// A page, rendered.
pub struct Page {
    /// The last part of its address.
    pub name: &'static str,
    /// The code of its language.
    pub language: String,
    /// Its first heading.
    pub title: String,
    pub html: String,
    /// The first has the page's title; each of the others begins with a heading.
    pub sections: Vec<Section>,
}

/// A heading with what stands below it.
pub struct Section {
    pub title: String,
    /// The `id` of the heading.
    pub anchor: String,
    /// 1 for the page's title.
    pub level: u8,
    /// Paragraphs, list items, rows of tables and blocks of code, as plain text.
    blocks: Vec<String>,
}

impl Section {
    /// All its text.
    pub fn searched(&self) -> String {
        format!("{}\n{}", self.title, self.blocks.join("\n"))
    }

    /// The first block with this lower-case word; otherwise the first of all.
    pub fn excerpt(&self, word: &str) -> &str {
        let mut blocks = self.blocks.iter();
        let with_word = blocks.find(|block| block.to_lowercase().contains(word));
        with_word.or(self.blocks.first()).map_or("", String::as_str)
    }
}

impl Page {
    /// Renders Markdown. Links to `page.md` and pictures lead to their addresses in the handbook.
    pub fn render(name: &'static str, language: &str, markdown: &str) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        let mut events: Vec<Event> = Vec::new();
        let mut text = String::new();
        // Where the events have the heading that is being read.
        let mut heading = 0;
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match &event {
                Event::Text(part) | Event::Code(part) => text.push_str(part),
                Event::SoftBreak | Event::HardBreak => text.push(' '),
                Event::Start(Tag::Heading { .. }) => heading = events.len(),
                Event::End(TagEnd::Heading(level)) => {
                    let title = mem::take(&mut text);
                    let anchor = anchor(&title, &sections);
                    events[heading] = with_id(*level, &anchor);
                    sections.push(Section {
                        title,
                        anchor,
                        level: *level as u8,
                        blocks: Vec::new(),
                    });
                }
                Event::End(TagEnd::TableCell) => text.push(' '),
                Event::End(
                    TagEnd::Paragraph
                    | TagEnd::Item
                    | TagEnd::CodeBlock
                    | TagEnd::TableRow
                    | TagEnd::TableHead,
                ) => {
                    let block = mem::take(&mut text);
                    if let Some(section) = sections.last_mut()
                        && !block.trim().is_empty()
                    {
                        section.blocks.push(block.trim().to_owned());
                    }
                }
                _ => {}
            }
            push(&mut events, event);
        }
        let mut page = String::new();
        html::push_html(&mut page, events.into_iter());
        Self {
            name,
            language: language.to_owned(),
            title: sections
                .first()
                .map(|section| section.title.clone())
                .unwrap_or_default(),
            html: page,
            sections,
        }
    }
}

/// Adds an event, with addresses of the handbook.
fn push<'a>(events: &mut Vec<Event<'a>>, mut event: Event<'a>) {
    if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = &mut event {
        *dest_url = address(dest_url);
    }
    // A wide table scrolls by itself, with the keyboard too.
    let (before, after) = match event {
        Event::Start(Tag::Table(_)) => (Some("<div class=\"scroll\" tabindex=\"0\">"), None),
        Event::End(TagEnd::Table) => (None, Some("</div>")),
        _ => (None, None),
    };
    let html = |text: &'static str| Event::Html(text.into());
    events.extend(before.map(html));
    events.push(event);
    events.extend(after.map(html));
}

fn with_id(level: HeadingLevel, anchor: &str) -> Event<'static> {
    Event::Start(Tag::Heading {
        level,
        id: Some(anchor.to_owned().into()),
        classes: Vec::new(),
        attrs: Vec::new(),
    })
}

/// `Backup and restore` becomes `backup-and-restore`; numbered where a page has the heading twice.
fn anchor(title: &str, earlier: &[Section]) -> String {
    let letters = title.to_lowercase();
    let words = letters.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let anchor = words.join("-");
    let times = earlier.iter().filter(|one| one.anchor == anchor).count();
    match times {
        0 => anchor,
        _ => format!("{anchor}-{}", earlier.len()),
    }
}

/// `operate.md#tls` becomes `/handbook/operate#tls`, so that links work in both places.
fn address<'a>(link: &str) -> CowStr<'a> {
    if link.contains("://") || link.starts_with(['/', '#']) {
        return link.to_owned().into();
    }
    format!("/handbook/{}", link.replacen(".md", "", 1)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_anchors_addresses_and_text_to_search() {
        let markdown = "# T\n\n## A b, *c*\n\nSee [x](operate.md#tls) and [y](#a).\n\n\
            ## A b, c\n\n| h |\n|---|\n| `1` 2 |\n\n![p](p.png)\n";
        let page = Page::render("t", "en", markdown);
        assert_eq!(page.title, "T");
        let anchors: Vec<&str> = page.sections.iter().map(|one| &*one.anchor).collect();
        assert_eq!(anchors, ["t", "a-b-c", "a-b-c-2"]);
        assert_eq!(page.sections[1].excerpt("see"), "See x and y.");
        assert_eq!(page.sections[2].searched(), "A b, c\nh\n1 2\np");
        for part in [
            "<h2 id=\"a-b-c\">",
            "href=\"/handbook/operate#tls\"",
            "href=\"#a\"",
            "src=\"/handbook/p.png\"",
            "<div class=\"scroll\" tabindex=\"0\"><table>",
        ] {
            assert!(page.html.contains(part), "{part}: {}", page.html);
        }
    }
}
