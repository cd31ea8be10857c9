//! Words by which people call the doors of a place, in several languages: a hint, which decides nothing.

use crate::types::text::fold;

/// In lowercase.
const WORDS: &[&str] = &[
    "door",
    "doors",
    "gate",
    "entrance",
    "entry",
    "tür",
    "tuer",
    "tor",
    "eingang",
    "einlass",
    "zugang",
    "porte",
    "entrée",
    "entree",
    "accès",
    "acces",
    "puerta",
    "entrada",
    "acceso",
    "porta",
    "ingresso",
    "accesso",
    "acesso",
    "deur",
    "poort",
    "ingang",
    "toegang",
    "dør",
    "indgang",
    "inngang",
    "dörr",
    "ingång",
    "ovi",
    "portti",
    "drzwi",
    "brama",
    "wejście",
    "vstup",
    "vchod",
    "dveře",
    "brána",
    "bejárat",
    "kapu",
    "intrare",
    "ușă",
    "kapı",
    "giriş",
    "είσοδος",
    "πόρτα",
    "вход",
    "дверь",
    "ворота",
    "вхід",
    "двері",
];
/// The longest of these also end compound words, such as `Nordeingang`.
const COMPOUND_MIN: usize = 6;
/// Words of languages that are written without spaces.
const UNSPACED: &[&str] = &["入口", "门", "門", "ドア", "입구"];

/// Returns whether a name is that of a door, such as `North door` or `Eingang 2`.
pub fn is_called_like_a_door(name: &str) -> bool {
    let folded = fold(name);
    let mut words = folded.split(|letter: char| !letter.is_alphanumeric());
    let is_one = |word: &str| {
        let ends = |known: &&str| known.chars().count() >= COMPOUND_MIN && word.ends_with(*known);
        WORDS.contains(&word) || WORDS.iter().any(ends)
    };
    words.any(is_one) || UNSPACED.iter().any(|word| folded.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_known_by_their_names_in_several_languages() {
        for name in [
            "North door",
            "GATE B",
            "Eingang 2",
            "Nordeingang",
            "Tür Süd",
            "Tor 3",
            "Porte A",
            "Entrée principale",
            "Puerta-1",
            "Ingresso nord",
            "Main entrance",
            "北入口",
        ] {
            assert!(is_called_like_a_door(name), "{name}");
        }
        for name in [
            "",
            "Hall 2",
            "Doorman's talk",
            "Doktor Faust",
            "Delegates",
            "Torte",
            "Workshop",
            "Investigate",
            "Portal",
        ] {
            assert!(!is_called_like_a_door(name), "{name}");
        }
    }
}
