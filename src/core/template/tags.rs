//! A template cut into its tags and their tokens, as far as the checks before saving need them:
//! minijinja shows neither. Where the source is broken the tags end; minijinja tells what is wrong.

/// One `{{ … }}` or `{% … %}`.
pub(super) struct Tag<'s> {
    pub is_statement: bool,
    pub tokens: Vec<Token<'s>>,
}

impl<'s> Tag<'s> {
    /// The kind of statement, such as `for`.
    pub fn statement(&self) -> Option<&'s str> {
        self.tokens
            .first()
            .filter(|_| self.is_statement)
            .map(|token| token.text)
    }

    pub fn sign(&self, at: usize) -> Option<&'s str> {
        self.text_of(at, Kind::Sign)
    }

    pub fn name(&self, at: usize) -> Option<&'s str> {
        self.text_of(at, Kind::Name)
    }

    fn text_of(&self, at: usize, kind: Kind) -> Option<&'s str> {
        let token = self.tokens.get(at)?;
        (token.kind == kind).then_some(token.text)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Token<'s> {
    pub kind: Kind,
    /// As it is written; of a quoted text what is between the quotes.
    pub text: &'s str,
    pub line: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Text,
    Number,
    Sign,
}

pub(super) fn scan(source: &str) -> Vec<Tag<'_>> {
    let mut scanner = Scanner {
        rest: source,
        line: 1,
    };
    let mut tags = Vec::new();
    while let Some(at) = scanner.rest.find('{') {
        scanner.take(at);
        let is_statement = scanner.rest.starts_with("{%");
        if scanner.rest.starts_with("{#") {
            scanner.take_through("#}");
        } else if is_statement
            && scanner.rest[2..]
                .trim_start_matches(SPACE)
                .starts_with("raw")
        {
            scanner.take_raw();
        } else if is_statement || scanner.rest.starts_with("{{") {
            tags.push(Tag {
                is_statement,
                tokens: scanner.take_tag(if is_statement { "%}" } else { "}}" }),
            });
        } else {
            scanner.take(1);
        }
    }
    tags
}

/// The characters that may stand between `{%` and the statement.
const SPACE: [char; 6] = ['-', '+', ' ', '\t', '\r', '\n'];
const LONG_SIGNS: [&str; 6] = ["**", "//", "==", "!=", "<=", ">="];

struct Scanner<'s> {
    rest: &'s str,
    line: usize,
}

impl<'s> Scanner<'s> {
    fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Up to the end of the source where there is no `end`.
    fn take_through(&mut self, end: &str) {
        let bytes = self.rest.find(end).map(|at| at + end.len());
        self.take(bytes.unwrap_or(self.rest.len()));
    }

    fn take_raw(&mut self) {
        self.take_through("%}");
        while let Some(at) = self.rest.find("{%") {
            self.take(at + 2);
            if self.rest.trim_start_matches(SPACE).starts_with("endraw") {
                return self.take_through("%}");
            }
        }
        self.take(self.rest.len());
    }

    fn take_tag(&mut self, close: &str) -> Vec<Token<'s>> {
        self.take(2);
        self.rest = self.rest.strip_prefix(['-', '+']).unwrap_or(self.rest);
        let (mut tokens, mut open) = (Vec::new(), 0);
        loop {
            self.take(self.rest.len() - self.rest.trim_start().len());
            let trimmed = self.rest.strip_prefix(['-', '+']).unwrap_or(self.rest);
            if open <= 0 && trimmed.starts_with(close) {
                self.take_through(close);
                return tokens;
            }
            let Some(token) = self.take_token() else {
                return tokens;
            };
            match token.text {
                "(" | "[" | "{" if token.kind == Kind::Sign => open += 1,
                ")" | "]" | "}" if token.kind == Kind::Sign => open -= 1,
                _ => {}
            }
            tokens.push(token);
        }
    }

    fn take_token(&mut self) -> Option<Token<'s>> {
        let (line, first) = (self.line, self.rest.chars().next()?);
        let length_while = |rest: &str, part: fn(char) -> bool| {
            rest.find(|letter| !part(letter)).unwrap_or(rest.len())
        };
        let (kind, text) = if first == '"' || first == '\'' {
            (Kind::Text, self.take_quoted(first))
        } else if first.is_ascii_digit() {
            let number = |letter: char| letter.is_alphanumeric() || ['_', '.'].contains(&letter);
            let length = length_while(self.rest, number);
            (Kind::Number, self.take(length))
        } else if first.is_alphabetic() || first == '_' {
            let name = |letter: char| letter.is_alphanumeric() || letter == '_';
            let length = length_while(self.rest, name);
            (Kind::Name, self.take(length))
        } else {
            let long = LONG_SIGNS.iter().any(|sign| self.rest.starts_with(sign));
            let length = if long { 2 } else { first.len_utf8() };
            (Kind::Sign, self.take(length))
        };
        Some(Token { kind, text, line })
    }

    fn take_quoted(&mut self, quote: char) -> &'s str {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == quote && !escaped;
            escaped = *letter == '\\' && !escaped;
            ends
        });
        let end = end.map_or(self.rest.len(), |(at, _)| at);
        let text = &self.rest[1..end];
        self.take((end + 1).min(self.rest.len()));
        text
    }
}
