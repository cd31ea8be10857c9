//! The fields of a delegate: the one declaration that the API, searches, imports, exports and the console follow.

use crate::core::records::{Field, Form};

/// Everything a delegate has.
pub const FIELDS: &[Field] = &[
    Field::id().about("Never changes, never means another delegate."),
    Field::record_type().about("Always `delegate`."),
    Field::reference("parent", "parent_id")
        .label("Belongs to")
        .about("The delegate this one belongs to; send an id or `{\"id\": …}`."),
    Field::reference("previous", "previous_id")
        .label("Replaces")
        .about("The delegate that this one replaces."),
    Field::reference("owner", "owner_id")
        .label("Owner")
        .about("The delegate who may read this one."),
    Field::attached("children").about("Delegates whose parent this is, at most 1,000."),
    Field::code("barcode", "barcode")
        .label("Barcode")
        .about("Unique code, 1 to 255 characters, compared exactly.")
        .text_indexed()
        .aliases(
            "ticketcode barcodeno barcodenumber secret ticketbarcode ticketnumber ticketnummer \
             ticketno ticketnr ticketid kodbiletu numerbiletu codicebiglietto ticketsecret \
             qrcode strichcode codebarre codebarres numerodebillet codebillet numerodeentrada \
             codigodebarras codigodeentrada stregkode billetkode billetnummer billetid billetnr",
        ),
    Field::code("publicId", "public_id")
        .label("Public ID")
        .about("Unique code; a UUID made by the server when absent."),
    Field::code("rfid", "rfid")
        .label("RFID")
        .about("Unique code.")
        .aliases(
            "nfc nfcid nfcuid nfctag nfccode chip chipid chipnumber chipnummer chipnr chipcode rfidtag rfidid rfidcode \
             rfidnumber rfidnummer transponder transponderid transponderno transpondernumber transpondernummer \
             transpondernr tag tagid tagnumber tagnummer taguid badgetag puce numerodepuce etiqueta",
        ),
    Field::code("externalId", "external_id")
        .label("External ID")
        .about("Unique code.")
        .text_indexed()
        .aliases("externeid identifiantexterne idexterno eksterntid"),
    Field::code("code", "code")
        .label("Code")
        .about("Unique code."),
    Field::code("uhfId", "uhf_id")
        .label("UHF ID")
        .about("Unique code, in whatever case it is written.")
        .in_any_case()
        .aliases(
            "uhf uhftag uhftagid uhfcode uhfchip uhfepc uhfrfid rfiduhf epc epcid epccode epctag tagepc",
        ),
    Field::code("slug", "slug")
        .label("Slug")
        .about("Unique code."),
    Field::text("firstName", "first_name")
        .label("First name")
        .text_indexed()
        .own()
        .aliases(
            "forename givenname vorname rufname imie voornaam nome jmeno prenom nombre \
             nombredepila fornavn givennames",
        ),
    Field::text("lastName", "last_name")
        .label("Last name")
        .text_indexed()
        .own()
        .aliases(
            "surname familyname nachname nazwisko achternaam cognome sobrenome prijmeni \
             familienname nom nomdefamille apellido apellidos efternavn zuname primerapellido",
        ),
    Field::text("email", "email")
        .label("E-mail")
        .about("New addresses have an `@`.")
        .form(Form::Email)
        .text_indexed()
        .own()
        .aliases(
            "emailaddress emailadresse mail adresemail adresmail mailaddress indirizzoemail \
             mailadresse adresseemail adressemail courriel correo correoelectronico epost \
             adresseelectronique",
        ),
    Field::text("phone", "phone")
        .label("Phone")
        .text_indexed()
        .own()
        .aliases(
            "mobile mobilephone mobilenumber cellphone cell cellnumber phonenumber telephone \
             telefon telefonnummer tel telefonnr telephonenumber mobilephonenumber phoneno \
             handynr numertelefonu telefoon telefoonnummer cellulare handy handynummer mobil \
             mobilnummer mobiltelefon mobilfunk telephoneportable portable telefono \
             telefonomovil celular movil",
        ),
    Field::text("jobTitle", "job_title")
        .label("Job title")
        .text_indexed()
        .own()
        .aliases(
            "position stanowisko functie funktion stellenbezeichnung intituleduposte jobtitel \
             berufsbezeichnung fonction poste cargo puesto stilling stillingsbetegnelse",
        ),
    Field::text("company", "company")
        .label("Company")
        .text_indexed()
        .own()
        .aliases(
            "organisation organization companyname firma firmenname unternehmen bedrijf azienda \
             entreprise societe empresa compania organizacion virksomhed firmanavn",
        ),
    Field::text("delegateType", "delegate_type")
        .label("Type")
        .about("A type name of the event's own, such as `visitor`.")
        .aliases(
            "type typ tipo tickettype attendeetype tickettyp ticketart ticketkategorie teilnehmertyp kategorie category categorie \
             typedebillet tipodeentrada billettype deltagertype",
        ),
    Field::text("rawFlags", "raw_flags")
        .label("Flags")
        .about("Single-letter flags; stored lowercase, each once, sorted. New ones are letters.")
        .form(Form::Letters)
        .own()
        .aliases("flags"),
    Field::sources()
        .label("Came from")
        .about("Where the record came from: `api`, `admin`, `import`, `tx`, `discovery`."),
    Field::document()
        .label("Details")
        .about("Named sections, each an object; a PATCH merges by key (RFC 7396).")
        .own(),
    Field::attached("firstInteractions").about(
        "Interactions with this delegate as the first, the newest 1,000, or fewer of 4 MiB.",
    ),
    Field::attached("secondInteractions").about("… as the second."),
    Field::attached("thirdInteractions").about("… as the third."),
    Field::stamp("createdAt", "created_at"),
    Field::stamp("updatedAt", "updated_at"),
];

/// The columns of the full-text index, separated by commas.
pub fn text_indexed_columns() -> String {
    let fields = FIELDS.iter().filter(|field| field.is_text_indexed);
    let columns: Vec<_> = fields.map(|field| field.column).collect();
    columns.join(", ")
}
