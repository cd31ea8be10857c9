//! Some of the rows of a file: a bit each, so that it costs next to nothing to know a million.

/// Rows by their numbers from 0.
#[derive(Debug, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    /// Adds the row of this number.
    pub fn set(&mut self, number: u64) {
        let (word, bit) = place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// Whether the row of this number is among them.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }
}

fn place(number: u64) -> (usize, u64) {
    let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
    (word, 1 << (number % 64))
}
