//! A font for tests that has one letter which the embedded ones lack: the regular of these, whose letters and name are
//! replaced.

/// A font of this family; its one letter, of which it makes an A.
pub fn font(family: &str, letter: char) -> Vec<u8> {
    let font = include_bytes!("../fonts/NotoSans-Regular.ttf");
    let number =
        |at: usize| u32::from_be_bytes(font[at..at + 4].try_into().expect("four bytes")) as usize;
    let count = u16::from_be_bytes([font[4], font[5]]);
    let (mut tables, mut data) = (font[..12].to_vec(), Vec::new());
    for record in (12..).step_by(16).take(count.into()) {
        let (start, length) = (number(record + 8), number(record + 12));
        let table = match &font[record..record + 4] {
            b"cmap" => letters(letter),
            b"name" => names(family),
            _ => font[start..start + length].to_vec(),
        };
        tables.extend_from_slice(&font[record..record + 8]);
        for value in [12 + 16 * usize::from(count) + data.len(), table.len()] {
            tables.extend(u32::try_from(value).expect("a small font").to_be_bytes());
        }
        data.extend(table);
        data.resize(data.len().next_multiple_of(4), 0);
    }
    tables.extend(data);
    tables
}

/// A table of letters: format 12, one group.
fn letters(letter: char) -> Vec<u8> {
    /// The A of the font.
    const GLYPH: u32 = 36;
    let letter = u32::from(letter);
    let mut table = vec![0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12, 0, 12, 0, 0];
    for value in [28, 0, 1, letter, letter, GLYPH] {
        table.extend(value.to_be_bytes());
    }
    table
}

/// A table of names: family and `PostScript` name, for Windows, in English.
fn names(family: &str) -> Vec<u8> {
    let text: Vec<u8> = family.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let length = u16::try_from(text.len()).expect("a short name");
    let mut table = Vec::new();
    for value in [
        0, 2, 30, 3, 1, 0x409, 1, length, 0, 3, 1, 0x409, 6, length, 0,
    ] {
        table.extend(u16::to_be_bytes(value));
    }
    table.extend(text);
    table
}
