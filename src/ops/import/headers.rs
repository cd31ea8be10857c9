//! What headers call properties in the languages that attendee lists come in, beside the
//! properties' own names; and how a header is taken apart into words.

/// What delegates' columns are called; compared as [`folded`].
pub(super) const OF_DELEGATES: &[(&str, &str)] = &[
    ("forename", "firstName"),
    ("givenname", "firstName"),
    ("vorname", "firstName"),
    ("rufname", "firstName"),
    ("imie", "firstName"),
    ("voornaam", "firstName"),
    ("nome", "firstName"),
    ("jmeno", "firstName"),
    ("prenom", "firstName"),
    ("nombre", "firstName"),
    ("nombredepila", "firstName"),
    ("fornavn", "firstName"),
    ("givennames", "firstName"),
    ("surname", "lastName"),
    ("familyname", "lastName"),
    ("nachname", "lastName"),
    ("nazwisko", "lastName"),
    ("achternaam", "lastName"),
    ("cognome", "lastName"),
    ("sobrenome", "lastName"),
    ("prijmeni", "lastName"),
    ("familienname", "lastName"),
    ("nom", "lastName"),
    ("nomdefamille", "lastName"),
    ("apellido", "lastName"),
    ("apellidos", "lastName"),
    ("efternavn", "lastName"),
    ("zuname", "lastName"),
    ("primerapellido", "lastName"),
    ("emailaddress", "email"),
    ("emailadresse", "email"),
    ("mail", "email"),
    ("adresemail", "email"),
    ("adresmail", "email"),
    ("mailaddress", "email"),
    ("indirizzoemail", "email"),
    ("mailadresse", "email"),
    ("adresseemail", "email"),
    ("adressemail", "email"),
    ("courriel", "email"),
    ("correo", "email"),
    ("correoelectronico", "email"),
    ("epost", "email"),
    ("adresseelectronique", "email"),
    ("mobile", "phone"),
    ("mobilephone", "phone"),
    ("mobilenumber", "phone"),
    ("cellphone", "phone"),
    ("cell", "phone"),
    ("cellnumber", "phone"),
    ("phonenumber", "phone"),
    ("telephone", "phone"),
    ("telefon", "phone"),
    ("telefonnummer", "phone"),
    ("tel", "phone"),
    ("telefonnr", "phone"),
    ("telephonenumber", "phone"),
    ("mobilephonenumber", "phone"),
    ("phoneno", "phone"),
    ("handynr", "phone"),
    ("numertelefonu", "phone"),
    ("telefoon", "phone"),
    ("telefoonnummer", "phone"),
    ("cellulare", "phone"),
    ("handy", "phone"),
    ("handynummer", "phone"),
    ("mobil", "phone"),
    ("mobilnummer", "phone"),
    ("mobiltelefon", "phone"),
    ("mobilfunk", "phone"),
    ("telephoneportable", "phone"),
    ("portable", "phone"),
    ("telefono", "phone"),
    ("telefonomovil", "phone"),
    ("celular", "phone"),
    ("movil", "phone"),
    ("position", "jobTitle"),
    ("stanowisko", "jobTitle"),
    ("functie", "jobTitle"),
    ("funktion", "jobTitle"),
    ("stellenbezeichnung", "jobTitle"),
    ("intituleduposte", "jobTitle"),
    ("jobtitel", "jobTitle"),
    ("berufsbezeichnung", "jobTitle"),
    ("fonction", "jobTitle"),
    ("poste", "jobTitle"),
    ("cargo", "jobTitle"),
    ("puesto", "jobTitle"),
    ("stilling", "jobTitle"),
    ("stillingsbetegnelse", "jobTitle"),
    ("organisation", "company"),
    ("organization", "company"),
    ("companyname", "company"),
    ("firma", "company"),
    ("firmenname", "company"),
    ("unternehmen", "company"),
    ("bedrijf", "company"),
    ("azienda", "company"),
    ("entreprise", "company"),
    ("societe", "company"),
    ("empresa", "company"),
    ("compania", "company"),
    ("organizacion", "company"),
    ("virksomhed", "company"),
    ("firmanavn", "company"),
    ("ticketcode", "barcode"),
    ("barcodeno", "barcode"),
    ("barcodenumber", "barcode"),
    ("secret", "barcode"),
    ("ticketbarcode", "barcode"),
    ("ticketnumber", "barcode"),
    ("ticketnummer", "barcode"),
    ("ticketno", "barcode"),
    ("ticketnr", "barcode"),
    ("ticketid", "barcode"),
    ("kodbiletu", "barcode"),
    ("numerbiletu", "barcode"),
    ("codicebiglietto", "barcode"),
    ("ticketsecret", "barcode"),
    ("qrcode", "barcode"),
    ("strichcode", "barcode"),
    ("codebarre", "barcode"),
    ("codebarres", "barcode"),
    ("numerodebillet", "barcode"),
    ("codebillet", "barcode"),
    ("numerodeentrada", "barcode"),
    ("codigodebarras", "barcode"),
    ("codigodeentrada", "barcode"),
    ("stregkode", "barcode"),
    ("billetkode", "barcode"),
    ("billetnummer", "barcode"),
    ("billetid", "barcode"),
    ("billetnr", "barcode"),
    ("tickettype", "delegateType"),
    ("attendeetype", "delegateType"),
    ("tickettyp", "delegateType"),
    ("ticketart", "delegateType"),
    ("ticketkategorie", "delegateType"),
    ("teilnehmertyp", "delegateType"),
    ("typedebillet", "delegateType"),
    ("tipodeentrada", "delegateType"),
    ("billettype", "delegateType"),
    ("deltagertype", "delegateType"),
    ("externeid", "externalId"),
    ("identifiantexterne", "externalId"),
    ("idexterno", "externalId"),
    ("eksterntid", "externalId"),
    ("flags", "rawFlags"),
];

/// What a shop's list calls the guest, beside whom it has a buyer: before what it says of them.
pub(super) const GUEST_BEFORE: &[&str] = &[
    "attendee",
    "attendeename",
    "participant",
    "participantname",
    "guest",
    "guestname",
    "teilnehmer",
    "teilnehmername",
    "gast",
    "nomduparticipant",
    "asistente",
    "nombredelasistente",
    "deltager",
    "deltagernavn",
];

/// As [`GUEST_BEFORE`], after it.
pub(super) const GUEST_AFTER: &[&str] = &[
    "desteilnehmers",
    "desteilnehmenden",
    "desgastes",
    "duparticipant",
    "delasistente",
    "delparticipante",
];

/// What may be said of a guest so.
pub(super) const OF_GUESTS: &[&str] = &[
    "firstName",
    "lastName",
    "email",
    "phone",
    "jobTitle",
    "company",
    "barcode",
];

/// What a column is called that holds last names beside one of first names, and whole names alone.
pub(super) const NAMES: &[&str] = &["name", "navn"];

/// What a column of whole names is called.
pub(super) const WHOLE_NAMES: &[&str] = &[
    "fullname",
    "wholename",
    "attendeename",
    "participantname",
    "guestname",
    "vollername",
    "vollstandigername",
    "teilnehmername",
    "nomcomplet",
    "nometprenom",
    "prenometnom",
    "nombrecompleto",
    "nombreyapellidos",
    "fuldenavn",
];

/// What devices' columns are called.
pub(super) const OF_DEVICES: &[(&str, &str)] = &[
    ("title", "name"),
    ("titel", "name"),
    ("bezeichnung", "name"),
    ("sessionname", "name"),
    ("nom", "name"),
    ("titre", "name"),
    ("nombre", "name"),
    ("titulo", "name"),
    ("navn", "name"),
    ("kurzname", "shortName"),
    ("nomcourt", "shortName"),
    ("nombrecorto", "shortName"),
    ("kortnavn", "shortName"),
    ("beschreibung", "description"),
    ("descripcion", "description"),
    ("beskrivelse", "description"),
    ("type", "deviceType"),
    ("typ", "deviceType"),
    ("tipo", "deviceType"),
    ("tags", "deviceTags"),
    ("kategorie", "category"),
    ("categorie", "category"),
    ("categoria", "category"),
    ("kategori", "category"),
    ("start", "startAt"),
    ("starttime", "startAt"),
    ("begin", "startAt"),
    ("beginn", "startAt"),
    ("debut", "startAt"),
    ("inicio", "startAt"),
    ("starttidspunkt", "startAt"),
    ("end", "endAt"),
    ("endtime", "endAt"),
    ("ende", "endAt"),
    ("fin", "endAt"),
    ("slut", "endAt"),
    ("sluttidspunkt", "endAt"),
    ("verfugbar", "available"),
    ("verfuegbar", "available"),
    ("disponible", "available"),
    ("tilgaengelig", "available"),
    ("externeid", "externalId"),
];

/// What interactions' columns are called.
pub(super) const OF_INTERACTIONS: &[(&str, &str)] = &[
    ("type", "interactionType"),
    ("interaction", "interactionType"),
    ("action", "interactionType"),
    ("typ", "interactionType"),
    ("aktion", "interactionType"),
    ("tipo", "interactionType"),
    ("accion", "interactionType"),
    ("handling", "interactionType"),
    ("time", "recordedAt"),
    ("timestamp", "recordedAt"),
    ("datetime", "recordedAt"),
    ("dateandtime", "recordedAt"),
    ("scannedat", "recordedAt"),
    ("zeit", "recordedAt"),
    ("zeitpunkt", "recordedAt"),
    ("zeitstempel", "recordedAt"),
    ("date", "recordedAt"),
    ("datum", "recordedAt"),
    ("horodatage", "recordedAt"),
    ("fechayhora", "recordedAt"),
    ("tidspunkt", "recordedAt"),
];

/// What columns of participants begin with, or are called: the delegates.
pub(super) const DELEGATES_OF_INTERACTIONS: &[(&str, &str)] = &[
    ("firstdelegate", "firstDelegate"),
    ("seconddelegate", "secondDelegate"),
    ("thirddelegate", "thirdDelegate"),
    ("delegate", "firstDelegate"),
    ("attendee", "firstDelegate"),
    ("teilnehmer", "firstDelegate"),
    ("participant", "firstDelegate"),
    ("participante", "firstDelegate"),
    ("deltager", "firstDelegate"),
];

/// What columns of participants begin with, or are called: the devices.
pub(super) const DEVICES_OF_INTERACTIONS: &[(&str, &str)] = &[
    ("firstdevice", "firstDevice"),
    ("seconddevice", "secondDevice"),
    ("thirddevice", "thirdDevice"),
    ("device", "firstDevice"),
    ("gate", "firstDevice"),
];

/// Words beside the name of a property that change nothing about what a column holds: which one it is
/// of several, and whose, as long as that is the guest.
const QUALIFIERS: &[&str] = &[
    "a",
    "as",
    "asistente",
    "attendee",
    "beruflich",
    "business",
    "contact",
    "das",
    "de",
    "der",
    "deltager",
    "des",
    "die",
    "dienstlich",
    "gast",
    "geschaftlich",
    "guest",
    "home",
    "ihr",
    "ihre",
    "kontakt",
    "main",
    "mandatory",
    "my",
    "obligatorisch",
    "of",
    "official",
    "optional",
    "participant",
    "participante",
    "personal",
    "personnel",
    "pflichtfeld",
    "primary",
    "privat",
    "private",
    "professionnel",
    "required",
    "teilnehmer",
    "teilnehmerin",
    "the",
    "tu",
    "votre",
    "work",
    "your",
];

/// Words that say that a column is about somebody else than the guest.
const OF_OTHERS: &[&str] = &[
    "acheteur",
    "assistant",
    "assistenz",
    "besteller",
    "bestellung",
    "billing",
    "buyer",
    "comprador",
    "emergency",
    "facturation",
    "invoice",
    "kaufer",
    "kaeufer",
    "notfall",
    "order",
    "payer",
    "purchaser",
    "rechnung",
    "rechnungs",
    "sender",
    "sponsor",
    "zahler",
];

/// A header taken apart.
pub(super) struct Words {
    /// What stands outside of brackets, in parts: `Last name / Surname` has two. Each is a list of
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

    /// Whether it is about somebody else than the guest.
    pub fn is_of_others(&self) -> bool {
        let mut all = self.parts.iter().flatten().chain(&self.bracketed);
        all.any(|word| OF_OTHERS.contains(&word.as_str()))
    }

    /// What stands outside of brackets, as [`folded`].
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
    let is_qualifier = |word: &String| QUALIFIERS.contains(&word.as_str());
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

/// Letters and digits alone, in lower case and without accents.
pub(super) fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for char in text.chars().flat_map(char::to_lowercase) {
        let plain = match char {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => "a",
            'æ' => "ae",
            'ç' | 'ć' | 'č' => "c",
            'ď' => "d",
            'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => "e",
            'ì' | 'í' | 'î' | 'ï' => "i",
            'ł' => "l",
            'ñ' | 'ń' | 'ň' => "n",
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => "o",
            'œ' => "oe",
            'ř' => "r",
            'ß' => "ss",
            'ś' | 'š' => "s",
            'ť' => "t",
            'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' => "u",
            'ý' | 'ÿ' => "y",
            'ź' | 'ż' | 'ž' => "z",
            // Accents of their own (é as two letters).
            '\u{300}'..='\u{36f}' => continue,
            other if other.is_alphanumeric() => {
                folded.push(other);
                continue;
            }
            _ => continue,
        };
        folded.push_str(plain);
    }
    folded
}
