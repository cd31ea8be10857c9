//! Names of properties in headers, in the languages that attendee lists come in, beside the
//! properties' own names; and how a header is split into words.

pub(super) use crate::types::fold::letters as folded;

/// Returns whether a word is one of a list.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Words for the guest in a shop's list, which has a buyer, too. They stand before the property.
pub(super) const GUEST_BEFORE: &str = "attendee attendeename participant participantname guest guestname teilnehmer \
     teilnehmername gast nomduparticipant asistente nombredelasistente deltager deltagernavn";

/// Words for the guest as in [`GUEST_BEFORE`], which stand after the property.
pub(super) const GUEST_AFTER: &str =
    "desteilnehmers desteilnehmenden desgastes duparticipant delasistente delparticipante";

/// Headers of last names where another column has first names, and of whole names otherwise.
pub(super) const NAMES: &str = "name navn";

/// Headers of whole names.
pub(super) const WHOLE_NAMES: &str = "fullname wholename attendeename participantname guestname vollername vollstandigername \
     teilnehmername nomcomplet nometprenom prenometnom nombrecompleto nombreyapellidos \
     fuldenavn nomecompleto nomecognome cognomenome volledigenaam attendee participant guest teilnehmer \
     teilnehmerin teilnehmende gast invite asistente participante ospite partecipante deelnemer deltager";

/// Headers of days, and of times of day, which together are a time.
pub(super) const DAYS: &str = "date day datum tag jour fecha dia data giorno dag";
pub(super) const START_DAYS: &str = "startdate startdatum datededebut datedebut fechadeinicio fechainicio datadiinizio \
     datainizio begindatum startday";
pub(super) const END_DAYS: &str = "enddate enddatum datedefin datefin fechadefin fechafin datadifine datafine einddatum \
     endday";
pub(super) const TIMES: &str = "time uhrzeit zeit heure hora ora tijd tid timeofday scantime";

/// Headers of the time at which somebody was checked in elsewhere.
pub(super) const CHECKED_IN: &str = "checkedin checkedinat checkindate checkintime attendeddate";

/// Headers of the room of a session, and of how many it holds.
pub(super) const ROOMS: &str =
    "room raum saal salle sala zaal lokaal hall location stage buhne venue";
pub(super) const CAPACITIES: &str = "capacity kapazitat platze capacite places capacidad aforo capienza posti capaciteit \
     plaatsen seats maxparticipants maxattendees";

/// Words for a delegate in headers of participants, and those for a device.
pub(super) const DELEGATES: &str = "delegate attendee teilnehmer participant participante deltager";
pub(super) const DEVICES: &str = "device gate";

/// Words in a header that do not change its meaning: which of several values it is, or that it is the
/// guest's.
const QUALIFIERS: &str = "a as asistente attendee beruflich business contact das de der deltager des die dienstlich \
     gast geschaftlich guest home ihr ihre kontakt main mandatory my obligatorisch of official \
     optional participant participante personal personnel pflichtfeld primary privat private \
     professionnel required teilnehmer teilnehmerin the tu votre work your";

/// Words that say that a column is about another person than the guest.
const OF_OTHERS: &str = "acheteur assistant assistenz besteller bestellung billing buyer comprador emergency \
     facturation invoice kaufer kaeufer notfall order payer purchaser rechnung rechnungs sender \
     sponsor zahler";

/// A header taken apart.
pub(super) struct Words {
    /// The words outside of brackets, in parts: `Last name / Surname` has two. Each is a list of
    /// words as [`folded`].
    pub parts: Vec<Vec<String>>,
    /// The words within brackets.
    pub bracketed: Vec<String>,
}

impl Words {
    pub fn of(header: &str) -> Self {
        let (mut outside, mut inside) = (String::new(), String::new());
        let mut depth = 0_u32;
        for letter in header.chars() {
            match letter {
                '(' | '[' | '{' => {
                    depth += 1;
                    inside.push(' ');
                    outside.push(' ');
                }
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                letter if depth > 0 => inside.push(letter),
                letter => outside.push(letter),
            }
        }
        for dash in [" - ", " \u{2013} ", " \u{2014} "] {
            outside = outside.replace(dash, "/");
        }
        let parts = outside.split(['/', '|', '\\', ',', ';', ':', '\n', '&', '+']);
        let parts = parts.map(words).filter(|part| !part.is_empty());
        Self {
            parts: parts.collect(),
            bracketed: words(&inside),
        }
    }

    /// Returns whether it is about another person than the guest.
    pub fn is_of_others(&self) -> bool {
        let mut all = self.parts.iter().flatten().chain(&self.bracketed);
        all.any(|word| has(OF_OTHERS, word))
    }

    /// The words outside of brackets, as [`folded`].
    pub fn outside(&self) -> String {
        self.parts.iter().flatten().map(String::as_str).collect()
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| {
        !letter.is_alphanumeric() && !('\u{300}'..='\u{36f}').contains(&letter)
    });
    words.map(folded).filter(|word| !word.is_empty()).collect()
}

/// The runs of words that may name a property, the longest first: all words, or all but those that
/// [`QUALIFIERS`] has.
pub(super) fn named_by(words: &[String]) -> impl Iterator<Item = String> {
    let is_qualifier = |word: &String| has(QUALIFIERS, word);
    runs(words)
        .filter(move |run| {
            let (before, rest) = words.split_at(run.start);
            let after = &rest[run.len()..];
            before.iter().chain(after).all(is_qualifier)
        })
        .map(|run| words[run].concat())
}

/// Any run of words, the longest first.
pub(super) fn any_of(words: &[String]) -> impl Iterator<Item = String> {
    runs(words).map(|run| words[run].concat())
}

/// The most words of a header that are looked at.
const WORDS_MAX: usize = 12;

fn runs(words: &[String]) -> impl Iterator<Item = std::ops::Range<usize>> + use<> {
    let count = words.len().min(WORDS_MAX);
    (1..=count)
        .rev()
        .flat_map(move |length| (0..=count - length).map(move |start| start..start + length))
}
