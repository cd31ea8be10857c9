//! The powers of templates, and their limits; hostile ones have a file of their own.

mod hostile;
#[cfg(target_os = "linux")]
mod memory;
mod names;

use super::*;
use serde_json::json;

pub(super) const NAMES: &[&str] = &["delegate", "settings", "now"];

pub(super) fn delegate() -> Value {
    value(&json!({
        "id": 7, "firstName": "Ada", "lastName": "Lovelace <3", "company": null,
        "data": {"Data": {"seat": "A-12", "meals": ["vegan", "late"], "price": 12.5}},
        "sessions": [
            {"name": "Keynote", "startAt": "2026-11-21T09:00:00+01:00", "room": "Hall", "seats": 3},
            {"name": "Engines", "startAt": "2026-11-21T11:30:00+01:00", "room": "Attic", "seats": 4},
        ],
    }))
}

pub(super) fn rendered(source: &str, format: Format) -> Result<String, Fault> {
    let values = [
        ("delegate", delegate()),
        ("settings", value(&json!({"name": "Lyngby Days"}))),
        ("now", Value::from("2026-11-21 09:02:00")),
    ];
    check(source, NAMES, &[])?;
    render(source, format, values)
}

fn html(source: &str) -> String {
    rendered(source, Format::Html).unwrap_or_else(|fault| format!("fault: {fault}"))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_page_is_made_of_the_record() {
    let cases = [
        ("Hello {{ delegate.firstName }}!", "Hello Ada!"),
        ("{{ delegate.lastName }}", "Lovelace &lt;3"),
        (
            "{{ settings.name }}, {{ now }}",
            "Lyngby Days, 2026-11-21 09:02:00",
        ),
        ("{{ delegate.data.Data.seat }}", "A-12"),
        ("{{ delegate['data']['Data']['meals'][1] }}", "late"),
        (
            "{{ delegate.nothing.at.all }}|{{ delegate.company }}|",
            "||",
        ),
        ("{{ delegate.nothing or 'nobody' }}", "nobody"),
        ("{{ delegate.data.Data.price * 2 }}", "25.0"),
        ("{{ '%.2f' | format(delegate.data.Data.price) }}", "12.50"),
        (
            "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 1 / 4 }}",
            "3 -4 1 2 1024 0.25",
        ),
        (
            "{{ 'a' ~ 1 ~ delegate.nothing }} {{ 'x' + 'y' }} {{ [1] + [2, 3] }}",
            "a1 xy [1, 2, 3]",
        ),
        (
            "{% set total = delegate.sessions[0].seats * 2 %}{% set total = total + total * 0.5 %}{{ total }}",
            "9.0",
        ),
        (
            "{{ 'Lovelace'[:4] }}{{ 'Lovelace'[-3:] }}{{ [1,2,3,4][1:4:2] }}",
            "Loveace[2, 4]",
        ),
        (
            "{% if 'vegan' in delegate.data.Data.meals and 2 < 3 %}V{% elif 1 %}x{% else %}y{% endif %}",
            "V",
        ),
        (
            "{% for s in delegate.sessions %}{{ loop.index }} {{ s.name }}{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}",
            "1 Keynote, 2 Engines",
        ),
        (
            "{% for s in delegate.sessions if s.seats > 3 %}{{ s.name }}{% endfor %}",
            "Engines",
        ),
        ("{% for s in [] %}x{% else %}none{% endfor %}", "none"),
        (
            "{% for k, v in {'a': 1, 'b': 2}|items %}{{ k }}={{ v }};{% endfor %}",
            "a=1;b=2;",
        ),
        (
            "{% for s in delegate.sessions %}{{ loop.cycle('odd', 'even') }} {% endfor %}",
            "odd even ",
        ),
        (
            "{% set ns = namespace(total=0) %}{% for s in delegate.sessions %}{% set ns.total = ns.total + s.seats %}{% endfor %}{{ ns.total }}",
            "7",
        ),
        (
            "{% macro tag(t, cls='x') %}<b class=\"{{ cls }}\">{{ t }}</b>{% endmacro %}{{ tag('<i>') }}{{ tag('b', cls='y') }}",
            "<b class=\"x\">&lt;i&gt;</b><b class=\"y\">b</b>",
        ),
        (
            "{% macro box() %}[{{ caller() }}]{% endmacro %}{% call box() %}in{% endcall %}",
            "[in]",
        ),
        (
            "{% set big %}<b>{{ delegate.firstName }}</b>{% endset %}{{ big }}{{ big|upper }}",
            "<b>Ada</b><B>ADA</B>",
        ),
        (
            "{% filter upper %}x{{ delegate.firstName }}{% endfilter %}",
            "XADA",
        ),
        ("{% with x = 3 %}{{ x }}{% endwith %}", "3"),
        (
            "{{ delegate.sessions|map(attribute='name')|join(', ') }}",
            "Keynote, Engines",
        ),
        (
            "{{ delegate.sessions|sum(attribute='seats') }} {{ [1, 2]|sum }}",
            "7 3",
        ),
        (
            "{{ delegate.sessions|sort(attribute='seats', reverse=true)|map(attribute='name')|first }}",
            "Engines",
        ),
        (
            "{{ delegate.sessions|selectattr('room', 'eq', 'Hall')|length }}",
            "1",
        ),
        (
            "{% for room, list in delegate.sessions|groupby('room') %}{{ room }}:{{ list|length }} {% endfor %}",
            "Attic:1 Hall:1 ",
        ),
        (
            "{% for row in [1,2,3]|batch(2) %}{{ row|join('-') }};{% endfor %}",
            "1-2;3;",
        ),
        (
            "{{ delegate.sessions[0].startAt|date('%H:%M') }} {{ now|date('%d.%m.%Y') }} {{ delegate.none|date('%Y') }}",
            "09:00 21.11.2026 ",
        ),
        (
            "{{ delegate.company|default('-', true) }}{{ delegate.x|d('?') }}",
            "-?",
        ),
        ("{{ {'a': [1, '<']}|tojson }}", "{\"a\": [1, \"\\u003c\"]}"),
        (
            "{{ 'a b&c'|urlencode }} {{ ' x '|trim }} {{ 'a-b'|replace('-', '+') }} {{ 'a,b'|split(',')|length }}",
            "a%20b%26c x a+b 2",
        ),
        (
            "{{ 3.14159|round(2) }} {{ '12'|int + 1 }} {{ [3,1,2]|sort }} {{ [1,1]|unique|length }} {{ [1,2]|max }}",
            "3.14 13 [1, 2, 3] 1 2",
        ),
        (
            "{{ delegate.x|length }}{{ delegate.x|upper }}{{ delegate.company|title }}{{ delegate.x|sort|map(attribute='a')|join(', ') }}{{ delegate.x|first }}{{ delegate.x|sum }}{{ delegate.x|int }}{% for a in delegate.x|list %}x{% endfor %}",
            "000",
        ),
        (
            "{{ delegate.company is none }} {{ delegate.x is defined }} {{ 4 is even }} {{ 'ab' is startingwith 'a' }}",
            "True False True True",
        ),
        (
            "{{ range(3)|join }} {{ range(5, 1, -2)|join(',') }} {{ dict(a=1).a }}",
            "012 5,3 1",
        ),
        (
            "{% raw %}{{ not this }}{% endraw %}{# nor this #}",
            "{{ not this }}",
        ),
        (
            "{{ 'yes' if delegate.id == 7 else 'no' }}{{ 1 if false }}",
            "yes",
        ),
    ];
    let wrong: Vec<String> = cases
        .iter()
        .map(|(source, expected)| (source, html(source), expected))
        .filter(|(_, made, expected)| made != *expected)
        .map(|(source, made, expected)| format!("{source}\n  made {made:?}\n  not  {expected:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn plain_text_is_not_escaped_and_html_always_is() {
    let source = "{{ delegate.lastName }}{% set x %}{{ delegate.lastName }}{% endset %}{{ x }}";
    assert_eq!(
        rendered(source, Format::Text).unwrap(),
        "Lovelace <3Lovelace <3"
    );
    assert_eq!(
        rendered(source, Format::Html).unwrap(),
        "Lovelace &lt;3Lovelace &lt;3"
    );
    for evasion in [
        "{{ '<script>' }}",
        "{{ '<scr' ~ 'ipt>' }}",
        "{{ ['<script>']|join }}",
        "{{ '[script]'|replace('[', '<')|replace(']', '>') }}",
        "{{ '%s'|format('<script>') }}",
        "{{ '<script>'|upper|lower }}",
        "{% set x = '<script>' %}{{ x }}",
        "{% macro m(t) %}{{ t }}{% endmacro %}{{ m('<script>') }}",
        "{{ ['<script>'] }}",
        "{{ {'<script>': '<script>'} }}",
        "{{ '<script>'|tojson }}",
        "{% for c in '<script>' %}{{ c }}{% endfor %}",
        "{{ '<script>'[:] }}",
        "{{ '<script>'|list|join }}",
        "{% set x %}a{% endset %}{{ x ~ '<script>' }}",
        "{% set x %}a{% endset %}{{ [x, '<script>']|join }}",
        "{% set x %}<b>{% endset %}{{ x|replace('b', '<script>') }}",
        "{% set x %}%s{% endset %}{{ x|format('<script>') }}",
    ] {
        let page = html(evasion);
        assert!(!page.contains("<script>"), "{evasion} gave {page}");
    }
}

#[test]
fn a_fault_names_its_line() {
    for (source, line, told) in [
        (
            "a\nb {{ delegat.name }}",
            2,
            "`delegat` is not known here; there is delegate, settings, now",
        ),
        ("\n\n{% if %}", 3, "unexpected"),
        ("x\n{{ 'a'|shout }}", 2, "no filter `shout`"),
        ("x\n{{ shout('a') }}", 2, "no function `shout`"),
        ("x\n{{ 1 is loud }}", 2, "no test `loud`"),
        ("x\n{% include 'y' %}", 2, "cannot include"),
        ("x\n{{ delegate.firstName.upper() }}", 2, "use a filter"),
        (
            "x\n\n{{ delegate.firstName + 1 }}",
            3,
            "unsupported types string and number",
        ),
        (
            "{% macro m() %}\n{{ 1 // 0 }}{% endmacro %}\n\n{{ m() }}",
            2,
            "unable to calculate 1 // 0",
        ),
        (
            "x\n{{ delegate.id + 340282366920938463463374607431768211455 }}",
            2,
            "unable to calculate",
        ),
    ] {
        let fault = rendered(source, Format::Html).unwrap_err();
        assert_eq!(fault.line, Some(line), "{source}: {fault}");
        assert!(fault.message.contains(told), "{source}: {fault}");
    }
}

/// A page with a greeting, what somebody booked and where they were, as an app fetches it at a scan.
#[test]
fn a_page_of_an_app_is_rendered() {
    let source = "<h1>Hello {{ delegate.firstName }}</h1>{% if delegate.company %}<p>{{ delegate.company }}</p>{% endif %}
        <ul>{% for i in delegate.firstInteractions %}{% if i.interactionType == 'check-in' %}<li class=\"{{ loop.cycle('odd', 'even') }}\">
        {{ i.recordedAt|date('%H:%M') }} {{ i.firstDevice.id }}</li>{% endif %}{% endfor %}</ul>
        {{ delegate.firstInteractions|map(attribute='interactionType')|unique|sort|join(', ') }}";
    let interaction = json!({
        "id": 1, "_type": "interaction", "interactionType": "check-in", "recordedAt": "2026-11-21T09:00:00+01:00",
        "firstDelegate": {"id": 7, "_type": "delegate"}, "firstDevice": {"id": 3, "_type": "device"}, "data": {"a": 1},
    });
    let delegate =
        value(&json!({"id": 7, "firstName": "Ada", "firstInteractions": vec![interaction; 20]}));
    let page = render(source, Format::Html, [("delegate", delegate)]).unwrap();
    assert!(page.contains("Hello Ada"), "{page}");
    assert_eq!(page.matches("09:00 3").count(), 20, "{page}");
}
