use crate::{
    Badge, Element, Fault, Fields, Fold, Fonts, Frame, Images, Kind, Layout, Pdf, Purpose, Sheet,
    Warning, When, brother_ql, check_font, fit, presets, test_font::font, zpl,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use std::io::Read;

fn fields(of: &[(&str, &str)]) -> Fields {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    of.iter().map(owned).collect()
}

fn person() -> Fields {
    fields(&[
        ("firstName", "Zoë"),
        ("lastName", "Müller-Łódzka"),
        ("company", "Αθήνα & Київ <GmbH>"),
        ("ticket", "TLH26-FJ7ADVN4"),
        ("type", "Speaker"),
        ("eventName", "Summit"),
        ("name", "Zoë Müller-Łódzka"),
        ("event", "Keynote: Αθήνα"),
        ("dates", "21 November 2026 to 22 November 2026"),
        ("attended", "5.5 hours"),
        ("percent", "91 %"),
    ])
}

fn text(text: &str) -> Element {
    let json = serde_json::json!({
        "kind": "text", "text": text, "size": 20, "x": 5, "y": 5, "width": 76, "height": 10,
    });
    serde_json::from_value(json).unwrap()
}

fn layout(front: Vec<Element>) -> Layout {
    let mut layout = presets::all().remove(1);
    layout.front = front;
    layout
}

fn draw_with(layout: &Layout, images: &Images, fields: &Fields) -> Badge {
    let is_of = |types: &[String]| fields.get("type").is_some_and(|kind| types.contains(kind));
    layout.draw(&Fonts::default(), images, fields, &is_of)
}

fn draw(layout: &Layout, fields: &Fields) -> Badge {
    draw_with(layout, &Images::default(), fields)
}

fn warnings(layout: &Layout, fields: &Fields) -> Vec<Warning> {
    draw(layout, fields).warnings
}

#[test]
fn every_preset_is_sound_and_takes_usual_names() {
    for preset in presets::all() {
        preset.check().unwrap();
        let json = serde_json::to_string(&preset).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), preset);
        let badge = draw(&preset, &person());
        assert_eq!(badge.warnings, [], "{}", preset.name);
        assert!(badge.pages[0].svg().starts_with("<svg"));
        let dots = badge.pages[0].dots(203).unwrap();
        let black: u32 = dots.rows.iter().map(|byte| byte.count_ones()).sum();
        assert!(black > dots.width * dots.height / 200, "{}", preset.name);
    }
}

#[test]
fn long_texts_shrink_then_take_two_lines_then_warn() {
    let fonts = Fonts::default();
    let fit = |text: &str| fit::fit(&fonts, text, true, 24.0, (70.0, 14.0));
    let short = fit("Ada");
    assert_eq!((short.lines.len(), short.size), (1, 24.0));
    let longer = fit("Konstantina Wenzel");
    assert_eq!(longer.lines.len(), 1);
    assert!(longer.size < 24.0 && longer.size > 24.0 * 0.7 && !longer.is_too_long);
    let two = fit("Bartholomew Maximilian Alexander von Hohenlohe");
    assert_eq!(two.lines.len(), 2, "{two:?}");
    assert!(!two.is_too_long);
    assert!(fit(&"Hohenlohe ".repeat(30)).is_too_long);
    let told = warnings(
        &layout(vec![text("{firstName}")]),
        &fields(&[("firstName", &"x".repeat(10_000))]),
    );
    assert!(
        matches!(&told[0], Warning::TooLong { text } if text.chars().count() == 201),
        "{told:?}"
    );
}

#[test]
fn a_letter_that_no_font_has_is_left_out_and_told() {
    let of_name = |name: &str| {
        warnings(
            &layout(vec![text("{firstName}")]),
            &fields(&[("firstName", name)]),
        )
    };
    assert_eq!(of_name("Ελένη Łucja Øyvind Ірина"), []);
    let told = of_name("Li 李\u{7}");
    assert!(
        matches!(&told[..], [Warning::NoLetters { letters, .. }] if letters == "李"),
        "{told:?}"
    );
    // What XML cannot hold is nobody's letter.
    assert_eq!(of_name("A\0d\u{1}a\u{fffe}").len(), 1);
    let layout = layout(vec![text("A\0d\u{1}a")]);
    assert_eq!(draw(&layout, &Fields::new()).pages.len(), 1);
}

#[test]
fn fields_fill_texts_and_types_decide_on_elements() {
    let drawn = |front: Vec<Element>, fields: &Fields| {
        let badge = draw(&layout(front), fields);
        badge.pages[0].svg()
    };
    let empty = drawn(vec![], &Fields::new());
    assert_eq!(
        drawn(vec![text("{firstName} {unknown}")], &Fields::new()),
        empty
    );
    let ada = fields(&[("firstName", "Ada"), ("type", "vip")]);
    assert_eq!(
        drawn(vec![text("{firstName}")], &ada),
        drawn(vec![text("Ada")], &ada)
    );
    assert_eq!(
        drawn(vec![text("{{x}}")], &ada),
        drawn(vec![text("{{x}} {none}")], &ada)
    );
    assert_ne!(drawn(vec![text("{{x}}")], &ada), empty);
    let mut conditional = text("VIP");
    conditional.when = Some(When {
        types: vec!["vip".to_owned()],
    });
    assert_ne!(drawn(vec![conditional.clone()], &ada), empty);
    assert_eq!(
        drawn(vec![conditional], &fields(&[("type", "guest")])),
        empty
    );
}

#[test]
fn a_back_is_a_page_of_its_own_or_folds() {
    let mut presets = presets::all().into_iter();
    let mut layout = presets.find(|preset| preset.name == "Folded A6").unwrap();
    let size = |layout: &Layout| {
        let badge = draw(layout, &person());
        badge.pages.iter().map(|page| page.size).collect::<Vec<_>>()
    };
    assert_eq!(size(&layout), [(105.0, 296.0)]);
    layout.fold = Fold::Beside;
    assert_eq!(size(&layout), [(210.0, 148.0)]);
    layout.fold = Fold::None;
    assert_eq!(size(&layout), [(105.0, 148.0); 2]);
}

#[test]
fn nothing_is_read_from_elsewhere_and_what_a_code_cannot_hold_is_told() {
    let frame = Frame {
        x: 0.0,
        y: 0.0,
        width: 20.0,
        height: 20.0,
    };
    let of = |kind| {
        warnings(
            &layout(vec![Element {
                frame,
                kind,
                when: None,
            }]),
            &person(),
        )
    };
    let image = "/etc/passwd".to_owned();
    assert_eq!(
        of(Kind::Image {
            image: image.clone()
        }),
        [Warning::NoImage { image }]
    );
    let text = "Ω".to_owned();
    assert_eq!(
        of(Kind::Code128 { text: text.clone() }),
        [Warning::NoCode { text }]
    );
    assert_eq!(
        of(Kind::Code128 {
            text: "{barcode}".to_owned()
        }),
        []
    );
}

#[test]
fn what_cannot_be_printed_is_refused_by_name() {
    let of = |change: fn(&mut Layout)| {
        let mut wrong = layout(vec![text("Ada")]);
        wrong.check().unwrap();
        change(&mut wrong);
        let Fault { field, .. } = wrong.check().unwrap_err();
        field
    };
    assert_eq!(of(|it| it.name = " ".into()), "name");
    assert_eq!(of(|it| it.width = 30_000.0), "width");
    assert_eq!(of(|it| it.height = f64::NAN), "height");
    assert_eq!(of(|it| it.front = vec![text("x"); 201]), "front");
    assert_eq!(
        of(|it| it.back = vec![text(&"x".repeat(501))]),
        "back[0].text"
    );
    assert_eq!(of(|it| it.front[0].frame.width = -1.0), "front[0].width");
    assert_eq!(
        of(
            |it| if let Kind::Text { colour, .. } = &mut it.front[0].kind {
                *colour = "red\"/>".into();
            }
        ),
        "front[0].colour"
    );
}

/// A printer unpacks the dots that were drawn.
#[test]
fn labels_hold_the_dots_that_were_drawn() {
    let label = &presets::all()[3];
    let badge = draw(label, &person());
    let dots = badge.pages[0].dots(300).unwrap();
    let zpl = zpl(&dots);
    let (head, rest) = zpl.split_once(":Z64:").unwrap();
    let (data, sum) = rest.split_once(':').unwrap();
    assert!(head.ends_with(&format!(
        "{},{},{},",
        dots.rows.len(),
        dots.rows.len(),
        dots.row_bytes()
    )));
    assert!(sum.ends_with("^FS^XZ\n"));
    let packed = BASE64_STANDARD.decode(data).unwrap();
    let mut unpacked = Vec::new();
    flate2::read::ZlibDecoder::new(&packed[..])
        .read_to_end(&mut unpacked)
        .unwrap();
    assert_eq!(unpacked, dots.rows);

    let job = brother_ql(&dots, 62).unwrap();
    let rows = dots.height as usize * 93;
    assert_eq!(job.last(), Some(&0x1a));
    let printed: u32 = job[job.len() - 1 - rows..job.len() - 1]
        .chunks(93)
        .flat_map(|row| &row[3..])
        .map(|byte| byte.count_ones())
        .sum();
    let drawn: u32 = dots.rows.iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(printed, drawn);
    assert!(brother_ql(&dots, 29).is_none() && brother_ql(&dots, 61).is_none());
}

/// A reader finds in the dots what the layout put there.
#[test]
fn a_code_is_read_from_the_dots_of_every_preset() {
    let presets = presets::all().into_iter();
    for preset in presets.filter(|preset| preset.purpose == Purpose::Badge) {
        let code = scanned(&draw(&preset, &person()));
        assert_eq!(code.as_deref(), Some("TLH26-FJ7ADVN4"), "{}", preset.name);
    }
}

#[test]
fn a_qr_code_has_the_signed_ticket_and_texts_have_the_code() {
    let signed = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".repeat(4)[..120].to_owned();
    let mut fields = person();
    fields.insert(crate::SIGNED_TICKET.to_owned(), signed.clone());
    let presets = presets::all().into_iter();
    for preset in presets.filter(|preset| preset.purpose == Purpose::Badge) {
        let badge = draw(&preset, &fields);
        assert_eq!(
            scanned(&badge).as_deref(),
            Some(&*signed),
            "{}",
            preset.name
        );
        assert_eq!(
            badge.warnings,
            draw(&preset, &person()).warnings,
            "{}",
            preset.name
        );
    }
}

/// The text of the first QR code of the front.
fn scanned(badge: &Badge) -> Option<String> {
    let dots = badge.pages[0].dots(203).unwrap();
    let row_bytes = dots.row_bytes();
    let is_black = |x: usize, y: usize| dots.rows[y * row_bytes + x / 8] & (0x80 >> (x % 8)) != 0;
    let (width, height) = (dots.width as usize, dots.height as usize);
    let mut picture = rqrr::PreparedImage::prepare_from_bitmap(width, height, is_black);
    let codes = picture.detect_grids();
    codes.first().map(|code| code.decode().unwrap().1)
}

#[test]
fn the_code_of_a_certificate_is_its_address_where_it_has_one() {
    const URL: &str = "https://gate.example.org/t/c7-12-330-91-0123456789abcdef0123456789abcdef";
    let mut certificates = presets::all().into_iter();
    let layout = certificates.find(|preset| preset.purpose == Purpose::Certificate);
    let layout = layout.unwrap();
    let json = serde_json::to_value(&layout).unwrap();
    assert_eq!(json["for"], "certificate");
    assert_eq!(scanned(&draw(&layout, &person())), None);
    let mut fields = person();
    fields.insert("certificateUrl".to_owned(), URL.to_owned());
    let drawn = draw(&layout, &fields);
    assert_eq!(drawn.warnings, []);
    assert_eq!(scanned(&drawn).as_deref(), Some(URL));
}

/// A picture of one black pixel, or its beginning with another size.
fn gif(width: u16, height: u16) -> Vec<u8> {
    let [w, h] = [width, height].map(u16::to_le_bytes);
    let mut gif = b"GIF89a".to_vec();
    gif.extend([
        w[0], w[1], h[0], h[1], 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
    ]);
    gif.extend([
        0x2c, 0, 0, 0, 0, w[0], w[1], h[0], h[1], 0, 2, 2, 0x44, 1, 0, 0x3b,
    ]);
    gif
}

#[test]
fn a_picture_is_drawn_unless_it_is_none_or_too_large() {
    let frame = Frame {
        x: 10.0,
        y: 10.0,
        width: 20.0,
        height: 20.0,
    };
    let image = "logo".to_owned();
    let kind = Kind::Image {
        image: image.clone(),
    };
    let layout = layout(vec![Element {
        frame,
        kind,
        when: None,
    }]);
    let drawn = |content: &[u8]| {
        let mut images = Images::default();
        images.add("logo", content);
        let badge = draw_with(&layout, &images, &Fields::new());
        let dots = badge.pages[0].dots(203).unwrap();
        (badge.warnings, dots.rows.iter().any(|byte| *byte != 0))
    };
    assert_eq!(drawn(&gif(1, 1)), (vec![], true));
    let none = Warning::NoImage {
        image: image.clone(),
    };
    assert_eq!(drawn(b"none"), (vec![none], false));
    let size = (30_000, 30_000);
    let large = Warning::LargeImage { image, size };
    assert!(large.to_string().contains("30000 × 30000 pixels"));
    assert_eq!(drawn(&gif(30_000, 30_000)), (vec![large], false));
}

#[test]
fn a_letter_that_only_an_added_font_has_is_drawn() {
    let added = font("Li Sans", '李');
    assert_eq!(check_font(&added), Ok("Li Sans".to_owned()));
    let fonts = Fonts::with([added]);
    let front = vec![text("{firstName}")];
    let draw = |fonts: &Fonts, name: &str| {
        let fields = fields(&[("firstName", name)]);
        layout(front.clone()).draw(fonts, &Images::default(), &fields, &|_| false)
    };
    let (badge, without) = (draw(&fonts, "李 Ada"), draw(&Fonts::default(), "李 Ada"));
    assert_eq!(badge.warnings, []);
    assert_eq!(without.warnings.len(), 1);
    // It makes an A of the letter: the same picture as where an A stands.
    let svg = |badge: &Badge| badge.pages[0].svg();
    assert_eq!(svg(&badge), svg(&draw(&fonts, "A Ada")));
    assert_ne!(svg(&badge), svg(&without));
    let mut pdf = Pdf::new(None);
    pdf.add(badge).unwrap();
    assert!(pdf.finish().unwrap().starts_with(b"%PDF"));
    // Letters that the embedded fonts have stay theirs.
    assert_eq!(
        svg(&draw(&fonts, "Ada")),
        svg(&draw(&Fonts::default(), "Ada"))
    );
}

#[test]
fn a_font_that_is_none_or_of_no_use_is_refused_in_words() {
    let refused = |content: &[u8], why: &str| {
        let told = check_font(content).unwrap_err();
        assert!(told.contains(why), "{told}");
    };
    let good = font("Li Sans", '李');
    refused(b"", "no TTF, OTF or TTC font");
    refused(b"PK\x03\x04 none", "no TTF, OTF or TTC font");
    refused(&good[..40], "no TTF, OTF or TTC font");
    refused(&font("Latin", 'A'), "no letter that the embedded ones lack");
    refused(&font(" ", '李'), "no name");
    // Without the table of its outlines.
    let mut damaged = good;
    let at = damaged.windows(4).position(|name| name == b"glyf").unwrap();
    damaged[at + 3] = b'g';
    refused(&damaged, "cannot be printed");
}

#[test]
fn a_page_of_too_many_dots_is_none() {
    let mut layout = layout(vec![]);
    (layout.width, layout.height) = (210.0, 297.0);
    let page = &draw(&layout, &Fields::new()).pages[0];
    assert!(page.dots(300).is_some() && page.dots(600).is_none());
}

#[test]
fn the_sum_behind_the_data_of_a_label_is_xmodems() {
    assert_eq!(crate::printers::crc_16(b"123456789"), 0x31c3);
}

#[test]
fn sheets_take_as_many_badges_of_a_size_as_fit() {
    let presets = presets::all();
    let pages = |layouts: &[usize], sheet: Option<Sheet>| {
        let mut pdf = Pdf::new(sheet);
        for at in layouts {
            pdf.add(draw(&presets[*at], &person())).ok()?;
        }
        let made = pdf.finish().unwrap();
        assert!(made.starts_with(b"%PDF"));
        let text = String::from_utf8_lossy(&made).into_owned();
        Some(text.matches("/Type/Page/").count() + text.matches("/Type /Page\n").count())
    };
    assert_eq!(pages(&[0; 6], None), Some(6));
    assert_eq!(pages(&[0; 4], Some(Sheet::A4)), Some(1));
    assert_eq!(pages(&[0; 6], Some(Sheet::A4)), Some(2));
    // Four A6 and ten cards, whatever their order.
    assert_eq!(
        pages(&[0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1], Some(Sheet::A4)),
        Some(2)
    );
    let small = Sheet {
        width: 50.0,
        height: 50.0,
    };
    assert_eq!(pages(&[0], Some(small)), None);
}

/// Unpacks PWG raster as PWG 5102.4 says, and compares it with the dots.
#[test]
fn a_printer_of_ipp_unpacks_the_dots_that_were_drawn() {
    let badge = draw_with(&presets::all()[1], &Images::default(), &person());
    let dots = badge.pages[0].dots(152).unwrap();
    let job = crate::pwg_raster(&dots, 152);
    let (sync, rest) = job.split_at(4);
    let (header, mut rest) = rest.split_at(1796);
    assert_eq!((sync, &header[..10]), (&b"RaS2"[..], &b"PwgRaster\0"[..]));
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
    assert_eq!((number(276), number(280)), (152, 152), "the resolution");
    assert_eq!((number(372), number(376)), (dots.width, dots.height));
    assert_eq!(
        (number(384), number(388), number(392)),
        (8, 8, dots.width),
        "bits, bytes a row"
    );
    assert_eq!((number(400), number(420)), (18, 1), "grey");
    // 86 by 54 mm, in points.
    assert_eq!((number(352), number(356)), (243, 153));
    for row in dots.rows.chunks(dots.row_bytes()) {
        assert_eq!(rest[0], 0, "a row stands once");
        rest = &rest[1..];
        let mut grey = Vec::new();
        while grey.len() < dots.width as usize {
            let (count, colour) = (usize::from(rest[0]) + 1, rest[1]);
            assert!(count <= 128, "more is another code");
            grey.extend(vec![colour; count]);
            rest = &rest[2..];
        }
        let drawn = (0..dots.width as usize).map(|at| row[at / 8] & 0x80 >> (at % 8) != 0);
        assert!(drawn.eq(grey.iter().map(|grey| *grey == 0)));
    }
    assert_eq!(rest, b"");
}
