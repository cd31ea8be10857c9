//! What is looked at before a source is parsed. The parser and the generator behind it call
//! themselves once for each link of a chain (`a + a + …`, `elif` after `elif`) and look back along
//! it at each, so chains are kept short.

use super::{Fault, SOURCE_BYTES};
use minijinja::{
    machinery::{Token, tokenize},
    syntax::SyntaxConfig,
};

const LINES: usize = 20_000;
/// Tokens in all, and within one `{{ … }}` or `{% … %}`.
const TOKENS: usize = 40_000;
const TOKENS_IN_TAG: usize = 250;
const BYTES_IN_TAG: usize = 8 * 1024;
const BRANCHES: usize = 100;

pub(super) fn measure(source: &str) -> Result<(), Fault> {
    if source.len() > SOURCE_BYTES {
        return Err(Fault::whole(format!(
            "a template has at most {} KiB",
            SOURCE_BYTES / 1024
        )));
    }
    if source.contains('\0') {
        return Err(Fault::whole("a template has no NUL character"));
    }
    if source.lines().count() > LINES {
        return Err(Fault::whole(format!(
            "a template has at most {LINES} lines"
        )));
    }
    let (mut all, mut in_tag, mut branches, mut begins) = (0, 0, 0, 0);
    for token in tokenize(source, false, SyntaxConfig::default()) {
        let (token, span) = token.map_err(|error| Fault {
            line: error.line().or(Some(1)),
            ..Fault::from(error)
        })?;
        let line = usize::from(span.start_line);
        all += 1;
        in_tag += 1;
        match token {
            Token::VariableStart | Token::BlockStart | Token::TemplateData(_) => {
                (in_tag, begins) = (0, span.start_offset as usize);
                if matches!(token, Token::TemplateData(_)) {
                    begins = span.end_offset as usize;
                }
            }
            Token::Ident("elif") => branches += 1,
            _ => {}
        }
        let bytes = (span.end_offset as usize).saturating_sub(begins);
        if in_tag > TOKENS_IN_TAG || bytes > BYTES_IN_TAG {
            return Err(Fault::at(
                line,
                "this expression is too long: take it apart with {% set %}",
            ));
        }
        if branches > BRANCHES {
            return Err(Fault::at(line, format!("more than {BRANCHES} elif")));
        }
        if all > TOKENS {
            return Err(Fault::at(line, "the template has too many expressions"));
        }
    }
    Ok(())
}
