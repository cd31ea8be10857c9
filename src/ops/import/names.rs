//! Whole names as first and last ones.

/// Small words that a last name may begin with.
const PARTICLES: &str =
    "van von der den de del della di da do dos das du la le zu zum zur ten ter af av bin ibn al el";

/// The first and the last name in a whole one: `Curie, Marta`, `Lise Meitner`, `Ludwig van Beethoven`. A single word is a
/// last name, and so is what begins with a small one.
#[must_use]
pub fn split(whole: &str) -> (Option<String>, String) {
    if let Some((last, first)) = whole.split_once(',') {
        let (last, first) = (last.trim(), first.trim());
        if !last.is_empty() && !first.is_empty() {
            return (Some(first.to_owned()), last.to_owned());
        }
    }
    let words: Vec<&str> = whole.split_whitespace().collect();
    let is_particle = |word: &&str| PARTICLES.split(' ').any(|known| known == *word);
    let last = words.len().saturating_sub(1);
    let at = words[..last].iter().position(is_particle).unwrap_or(last);
    match words.split_at(at) {
        ([], _) => (None, whole.trim().to_owned()),
        (first, last) => (Some(first.join(" ")), last.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_are_split() {
        for (whole, first, last) in [
            ("Curie, Marta", "Marta", "Curie"),
            ("Lise Meitner", "Lise", "Meitner"),
            ("Anna Maria Schmidt", "Anna Maria", "Schmidt"),
            ("Ludwig van Beethoven", "Ludwig", "van Beethoven"),
            ("María de la Cruz", "María", "de la Cruz"),
            ("van der Berg", "", "van der Berg"),
            ("Dr. Lea Lang", "Dr. Lea", "Lang"),
            ("Madonna", "", "Madonna"),
            ("Curie,", "", "Curie,"),
        ] {
            let (found, found_last) = split(whole);
            assert_eq!(
                (found.unwrap_or_default().as_str(), found_last.as_str()),
                (first, last)
            );
        }
    }
}
