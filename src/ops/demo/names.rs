//! What invented people and companies are called.

/// Names that go together, and how a telephone number begins where they do.
pub struct Region {
    /// The begin of a telephone number.
    pub phone: &'static str,
    /// First names.
    pub first: &'static [&'static str],
    /// Last names.
    pub last: &'static [&'static str],
}

/// The regions that delegates come from.
#[rustfmt::skip]
pub const REGIONS: &[Region] = &[
    Region {
        phone: "+44 7700 900",
        first: &["Oliver", "Amelia", "Harry", "Isla", "George", "Freya", "Callum", "Imogen", "Rhys", "Megan", "Duncan", "Fiona", "Niamh", "Eoin"],
        last: &["Thompson", "Hughes", "Walker", "Bennett", "Campbell", "Fletcher", "O'Connor", "Murphy", "Davies", "Pritchard", "Hartley", "Sinclair", "Kavanagh", "Ashworth"],
    },
    Region {
        phone: "+49 30 23125",
        first: &["Lukas", "Johanna", "Felix", "Katharina", "Jürgen", "Annika", "Stefan", "Greta", "Matthias", "Heike", "Tobias", "Sabine", "Moritz", "Lena"],
        last: &["Müller", "Schneider", "Hoffmann", "Krüger", "Vogel", "Lehmann", "Schäfer", "Böhm", "Winkler", "Brandt", "Köhler", "Seidel", "Weiß", "Zimmermann"],
    },
    Region {
        phone: "+33 1 99 00 ",
        first: &["Hélène", "Julien", "Camille", "Étienne", "Chloé", "Mathieu", "Margaux", "Antoine", "Élodie", "Baptiste", "Solène", "Rémi", "Inès", "Guillaume"],
        last: &["Lefèvre", "Moreau", "Girard", "Rousseau", "Fontaine", "Chevalier", "Dupont", "Marchand", "Lambert", "Perrin", "Gauthier", "Renard", "Bertrand", "Delacroix"],
    },
    Region {
        phone: "+34 911 555 ",
        first: &["Lucía", "Javier", "Carmen", "Álvaro", "Marta", "Sergio", "Paula", "Íñigo", "Nuria", "Rubén", "Elena", "Gonzalo", "Pilar", "Adrián"],
        last: &["García", "Fernández", "Núñez", "Romero", "Navarro", "Ibáñez", "Vidal", "Serrano", "Molina", "Castillo", "Ortega", "Cabrera", "Peña", "Aguilar"],
    },
    Region {
        phone: "+39 06 555 ",
        first: &["Giulia", "Marco", "Francesca", "Lorenzo", "Chiara", "Matteo", "Elisa", "Davide", "Silvia", "Paolo", "Beatrice", "Nicolò", "Alessia", "Stefano"],
        last: &["Rossi", "Ferrari", "Conti", "Ricci", "Marino", "Galli", "Barbieri", "Fontana", "Moretti", "Caruso", "Rinaldi", "Lombardi", "Santoro", "Vitale"],
    },
    Region {
        phone: "+48 22 555 ",
        first: &["Agnieszka", "Paweł", "Katarzyna", "Tomasz", "Małgorzata", "Michał", "Zofia", "Krzysztof", "Joanna", "Łukasz", "Ewa", "Wojciech", "Magdalena", "Rafał"],
        last: &["Kowalski", "Nowak", "Wiśniewska", "Zieliński", "Wójcik", "Kamiński", "Lewandowska", "Dąbrowski", "Szymański", "Pawlak", "Mazur", "Krawczyk", "Żak", "Baran"],
    },
    Region {
        phone: "+31 20 555 ",
        first: &["Sanne", "Daan", "Femke", "Bram", "Lotte", "Thijs", "Anouk", "Jeroen", "Maartje", "Ruben", "Ilse", "Pieter", "Roos", "Sjoerd"],
        last: &["de Vries", "van Dijk", "Bakker", "Visser", "Smit", "Mulder", "van den Berg", "Dekker", "Brouwer", "Hoekstra", "Kuiper", "Postma", "van Leeuwen", "Willems"],
    },
    Region {
        phone: "+46 8 555 ",
        first: &["Astrid", "Lars", "Ingrid", "Søren", "Elin", "Magnus", "Sigrid", "Bjørn", "Maja", "Anders", "Åsa", "Mikkel", "Karin", "Jörgen"],
        last: &["Lindström", "Johansen", "Bergqvist", "Nyström", "Hansen", "Sandberg", "Øvergaard", "Holm", "Nilsson", "Dahl", "Ekström", "Kjær", "Lund", "Åkesson"],
    },
    Region {
        phone: "+90 212 555 ",
        first: &["Elif", "Mehmet", "Zeynep", "Emre", "Ayşe", "Can", "Defne", "Burak", "Selin", "Kerem", "Gizem", "Onur", "Derya", "Çağlar"],
        last: &["Yılmaz", "Demir", "Şahin", "Çelik", "Yıldız", "Aydın", "Öztürk", "Arslan", "Doğan", "Koç", "Kurt", "Özkan", "Polat", "Güneş"],
    },
    Region {
        phone: "+91 22 5550 ",
        first: &["Priya", "Arjun", "Ananya", "Rohan", "Kavya", "Vikram", "Meera", "Sanjay", "Divya", "Rahul", "Nandini", "Aditya", "Lakshmi", "Karthik"],
        last: &["Sharma", "Patel", "Iyer", "Reddy", "Banerjee", "Nair", "Kapoor", "Desai", "Chatterjee", "Gupta", "Menon", "Joshi", "Rao", "Singh"],
    },
    Region {
        phone: "+86 21 5550 ",
        first: &["Wei", "Xiaoyu", "Jing", "Haoran", "Min", "Zihan", "Lian", "Yifan", "Mei", "Junjie", "Yan", "Bowen", "Xin", "Ruolan"],
        last: &["Zhang", "Liu", "Chen", "Yang", "Huang", "Zhao", "Wu", "Zhou", "Xu", "Sun", "Ma", "Zhu", "Guo", "Lin"],
    },
    Region {
        phone: "+81 3 5550 ",
        first: &["Yuki", "Haruto", "Sakura", "Kenji", "Aiko", "Takumi", "Emi", "Daichi", "Naomi", "Ren", "Hana", "Sho", "Michiko", "Kaito"],
        last: &["Tanaka", "Suzuki", "Watanabe", "Itō", "Nakamura", "Kobayashi", "Saitō", "Yamada", "Mori", "Fujita", "Okada", "Hasegawa", "Ishii", "Ogawa"],
    },
    Region {
        phone: "+234 1 555 ",
        first: &["Chinedu", "Amara", "Oluwaseun", "Ngozi", "Tunde", "Folake", "Emeka", "Adaeze", "Babajide", "Yetunde", "Ikenna", "Zainab", "Kwame", "Abena"],
        last: &["Okafor", "Adeyemi", "Eze", "Balogun", "Nwosu", "Mensah", "Afolabi", "Obi", "Boateng", "Ibrahim", "Onyeka", "Lawal", "Asante", "Bello"],
    },
    Region {
        phone: "+55 11 5555 ",
        first: &["Beatriz", "Thiago", "Larissa", "Rafael", "Fernanda", "João", "Camila", "Gustavo", "Letícia", "Felipe", "Luísa", "Caio", "Isabela", "Vinícius"],
        last: &["Silva", "Oliveira", "Souza", "Gonçalves", "Almeida", "Ribeiro", "Carvalho", "Araújo", "Barbosa", "Teixeira", "Moura", "Cardoso", "Pinto", "Magalhães"],
    },
    Region {
        phone: "+971 4 555 ",
        first: &["Layla", "Omar", "Fatima", "Khalid", "Noor", "Yousef", "Rania", "Tariq", "Huda", "Samir", "Dalia", "Faisal", "Mariam", "Ziad"],
        last: &["Haddad", "Al-Farsi", "Mansour", "Khoury", "Rahman", "El-Sayed", "Nasser", "Aziz", "Hamdan", "Darwish", "Saleh", "Qasim", "Fahmy", "Barakat"],
    },
    Region {
        phone: "+1 202 555 0",
        first: &["Madison", "Tyler", "Brooke", "Jordan", "Savannah", "Marcus", "Hailey", "Derek", "Nicole", "Travis", "Jasmine", "Brandon", "Kayla", "Ethan"],
        last: &["Johnson", "Ramirez", "Brooks", "Coleman", "Jackson", "Nguyen", "Parker", "Sullivan", "Hayes", "Carter", "Kowalczyk", "Foster", "Morales", "Whitaker"],
    },
];

/// Companies; the first ones are the event's sponsors.
#[rustfmt::skip]
pub const COMPANIES: &[&str] = &[
    "Aldermoor Analytics", "Brightwater Systems", "Caldera Robotics", "Dunmore Networks", "Eskdale Software", "Fernhill Payments",
    "Glasswing Cloud", "Hollowell Security", "Ironbridge Data", "Juniperus AV", "Kestrelworks", "Larkspur Ticketing",
    "Merrow Logistics", "Nordlys Energi AS", "Oakhaven Hotels", "Pellegrin & Fils", "Quillon Press", "Rautavaara Oy",
    "Sandringer GmbH", "Tessellate Studio", "Umbra Lighting", "Valdisole S.p.A.", "Westerkade B.V.", "Xanthe Media",
    "Yarrow Health", "Zonnebloem Catering", "Ambervale University", "Bosphorus Ventures", "Cordillera Foods", "Deccan Instruments",
    "Everglen Insurance", "Fjordline Marine", "Granite Bay Museum", "Harmattan Telecom", "Iguazu Films", "Jadewater Trading",
    "Kurashiki Optics", "Lagoon City Council", "Mistral Aéro", "Northgate Arena", "Orchard Lane Theatre", "Pampas Agro",
    "Quayside Convention Centre", "Riverstone Bank", "Saffron Events", "Tidewater Festivals", "Upland Sports", "Vistula Design",
];

/// Job titles.
#[rustfmt::skip]
pub const JOB_TITLES: &[&str] = &[
    "Head of Events", "Event Manager", "Operations Manager", "Product Manager", "Software Engineer", "IT Director", "Marketing Manager", "Sales Director",
    "Account Manager", "Chief Executive", "Chief Technology Officer", "Project Lead", "Venue Manager", "Data Analyst", "UX Designer", "Procurement Officer",
    "Communications Officer", "Sponsorship Manager", "Consultant", "Technical Producer", "Security Manager", "Finance Director", "Researcher", "Student",
];
