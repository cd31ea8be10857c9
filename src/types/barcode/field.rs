//! Reed-Solomon check symbols over GF(32), the field of Crockford's 32 symbols. It knows numbers
//! from 0 to 31 and no letters.

/// x⁵ + x² + 1, by which α = x is primitive: its powers are all 31 symbols but 0.
const POLYNOMIAL: u8 = 0b10_0101;
/// α, as a bit pattern.
const ALPHA: u8 = 0b10;

/// The longest word whose positions differ all: the order of α.
pub const WORD_MAX: usize = 31;

const fn times(left: u8, right: u8) -> u8 {
    let mut product = 0;
    let mut shifted = left;
    let mut bit = 0;
    while bit < 5 {
        if right >> bit & 1 == 1 {
            product ^= shifted;
        }
        shifted <<= 1;
        if shifted & 0b10_0000 != 0 {
            shifted ^= POLYNOMIAL;
        }
        bit += 1;
    }
    product
}

const ALPHA_2: u8 = times(ALPHA, ALPHA);
/// (x + α)(x + α²) = x² + SUM·x + PRODUCT
const SUM: u8 = ALPHA ^ ALPHA_2;
const PRODUCT: u8 = times(ALPHA, ALPHA_2);

/// The two symbols after which a word is one that [`holds`].
pub fn checks(symbols: &[u8]) -> [u8; 2] {
    // The remainder of symbols·x² by the generator, one symbol at a time.
    symbols.iter().fold([0, 0], |[high, low], symbol| {
        let lead = high ^ symbol;
        [low ^ times(lead, SUM), times(lead, PRODUCT)]
    })
}

/// Returns whether a word, its last two symbols being checks, has α and α² as its roots.
pub fn holds(word: &[u8]) -> bool {
    let at = |root| {
        word.iter()
            .fold(0, |value, symbol| times(value, root) ^ symbol)
    };
    word.len() <= WORD_MAX && at(ALPHA) == 0 && at(ALPHA_2) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_is_primitive() {
        let mut seen = [false; 32];
        let mut power = 1;
        for _ in 0..31 {
            assert!(!seen[usize::from(power)]);
            seen[usize::from(power)] = true;
            power = times(power, ALPHA);
        }
        assert_eq!(power, 1);
        assert!(!seen[0]);
    }

    #[test]
    fn multiplication_is_the_field_s() {
        // α⁵ = α² + 1
        assert_eq!(times(0b1_0000, ALPHA), 0b101);
        for a in 0..32 {
            assert_eq!(times(a, 1), a);
            for b in 0..32 {
                assert_eq!(times(a, b), times(b, a));
                assert_eq!(times(a, b) == 0, a == 0 || b == 0);
                assert!(times(a, b) < 32);
            }
        }
    }

    /// Every one of them, in a word of the greatest length.
    #[test]
    fn one_or_two_wrong_symbols_are_always_seen() {
        let mut word: Vec<u8> = (0..29).map(|at| (at * 7 + 3) % 32).collect();
        word.extend(checks(&word));
        assert!(holds(&word));
        let mut wrong = word.clone();
        for first in 0..WORD_MAX {
            for change in 1..32 {
                wrong[first] = word[first] ^ change;
                assert!(!holds(&wrong));
                for second in 0..first {
                    for change in 1..32 {
                        wrong[second] = word[second] ^ change;
                        assert!(!holds(&wrong), "{first} and {second}");
                    }
                    wrong[second] = word[second];
                }
            }
            wrong[first] = word[first];
        }
    }
}
