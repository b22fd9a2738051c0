//! Conversion of form content to values.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::__private_0_1_0::{check_content, parse_form_content};
use treenail::form::{FieldError, Form, FormError};
use treenail::mcp_form;
use treenail::schema::{ElicitResult, ElicitSchema, ElicitValue};

use crate::forms::{Bed, Booking, Extra, Room};

/// The content of a result, as the server parses it.
fn content(content: &Value) -> BTreeMap<String, ElicitValue> {
    let result = json!({"action": "accept", "content": content});
    let result: ElicitResult = serde_json::from_value(result).unwrap();
    result.content.unwrap()
}

fn read(entered: &Value) -> Result<Booking, FormError> {
    Booking::read(content(entered))
}

/// Content with the required fields and those in `more`.
fn filled(more: &Value) -> Value {
    let mut content = json!({"day": "2026-07-28", "breakfast": true});
    for (name, value) in more.as_object().unwrap() {
        content[name] = value.clone();
    }
    content
}

#[test]
fn omitted_fields_have_their_defaults() {
    let booking = read(&filled(&json!({}))).unwrap();
    let expected = Booking {
        day: "2026-07-28".into(),
        guests: 2,
        note: None,
        breakfast: true,
        late: false,
        room: Room::Double,
        bed: None,
        budget: 1.5,
        floor: None,
        extras: vec![Extra::Sauna],
        beds: Vec::new(),
        email: None,
        site: "https://example.com/".into(),
        arrival: None,
    };
    assert_eq!(booking, expected);
}

#[test]
fn content_becomes_values() {
    let entered = json!({
        "guests": 3.0, "note": " \u{e9}t\u{e9} ", "late": true, "room": "Single", "bed": "Soft",
        "budget": 2, "floor": -3, "extras": ["late, late", "Sauna", "Sauna"], "beds": ["Hard"],
        "e-mail": "a@b.no", "site": "urn:a:b", "arrival": "2026-07-28T23:00:00+02:00",
        "unknown": ["ignored"],
    });
    let booking = read(&filled(&entered)).unwrap();
    let expected = Booking {
        day: "2026-07-28".into(),
        guests: 3,
        note: Some(" \u{e9}t\u{e9} ".into()),
        breakfast: true,
        late: true,
        room: Room::Single,
        bed: Some(Bed::Soft),
        budget: 2.0,
        floor: Some(-3),
        extras: vec![Extra::LatestCheckout, Extra::Sauna],
        beds: vec![Bed::Hard],
        email: Some("a@b.no".into()),
        site: "urn:a:b".into(),
        arrival: Some("2026-07-28T23:00:00+02:00".into()),
    };
    assert_eq!(booking, expected);
}

#[test]
fn choices_may_be_a_comma_separated_string() {
    // The format that clients of 2025-06-18 are asked for: names or titles, case-insensitive.
    let table: [(&str, &[Extra]); 6] = [
        ("Sauna", &[Extra::Sauna]),
        (" sauna ,LATEST ", &[Extra::Sauna, Extra::LatestCheckout]),
        ("late, late", &[Extra::LatestCheckout]),
        ("late, sauna,", &[Extra::LateCheckout, Extra::Sauna]),
        ("Late, until 12", &[Extra::LateCheckout]),
        ("", &[Extra::Sauna]),
    ];
    for (text, expected) in table {
        let booking = read(&filled(&json!({"extras": text})));
        assert_eq!(booking.unwrap().extras, expected, "{text:?}");
    }
    for text in [
        "saunas",
        "sauna latest",
        "sauna; latest",
        "sauna, latest, late",
        "s\u{e4}una",
    ] {
        let error = read(&filled(&json!({"extras": text}))).unwrap_err();
        assert_eq!(error.errors()[0].field(), "extras", "{text:?}");
    }
}

#[test]
fn empty_strings_mean_no_value_for_optional_fields() {
    let names = [
        "guests", "note", "room", "bed", "budget", "floor", "beds", "e-mail", "site",
    ];
    let empty: Value = names
        .iter()
        .map(|name| ((*name).to_owned(), json!("")))
        .collect();
    assert_eq!(read(&filled(&empty)), read(&filled(&json!({}))));

    let error = read(&json!({"day": "", "breakfast": ""})).unwrap_err();
    let fields: Vec<_> = error.errors().iter().map(FieldError::field).collect();
    assert_eq!(fields, ["day", "breakfast"], "they have to be filled in");
}

#[test]
fn all_problems_are_reported_together() {
    // CLI-ELI-13
    let entered = json!({
        "day": "2026-02-30", "guests": "3", "note": "?", "late": 1, "room": "Suite", "bed": ["Soft"],
        "budget": 0.25, "floor": 2.5, "extras": ["Sauna", "late", "late, late"], "beds": ["Water"],
        "e-mail": "nobody", "site": "example.com", "arrival": "2026-07-28",
    });
    let error = read(&entered).unwrap_err();
    let expected = "the form content is invalid:
- `day`: expected a date like 2026-07-28, got the string \"2026-02-30\"
- `guests`: expected an integer (1 to 12), got the string \"3\"
- `note`: expected a string (2 to 20 characters), got the string \"?\"
- `breakfast`: missing; expected true or false
- `late`: expected true or false, got 1
- `room`: expected one of `Single`, `double`, got the string \"Suite\"
- `bed`: expected one of `Hard`, `Soft`, got the array [\"Soft\"]
- `budget`: expected a number (at least 0.5), got 0.25
- `floor`: expected an integer (-3 to 2), got 2.5
- `extras`: expected a list of some of `Sauna`, `late`, `late, late` (1 to 2), got the array [\"Sauna\",\"late\",\"late, late\"]
- `beds`: expected a list of some of `Hard`, `Soft`, got the array [\"Water\"]
- `e-mail`: expected an e-mail address, got the string \"nobody\"
- `site`: expected a URI, got the string \"example.com\"
- `arrival`: expected a date and time like 2026-07-28T09:30:00Z, got the string \"2026-07-28\"";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_form_without_a_type_is_read_by_its_schema() {
    let schema: ElicitSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["C", "F"], "enumNames": ["Celsius", "Fahrenheit"]},
            "days": {"type": "integer", "default": 3},
            "of": {"type": "array", "items": {"type": "string", "enum": ["rain", "wind"]}},
            "until": {"type": "string", "format": "date"},
        },
        "required": ["unit", "days"],
    }))
    .unwrap();
    let entered = content(&json!({"unit": "C", "of": "Rain, wind", "until": "", "other": 1}));
    assert_eq!(check_content(&schema, &entered), Ok(()));
    let settled = parse_form_content(&schema, entered).unwrap();
    let settled = serde_json::to_value(settled).unwrap();
    assert_eq!(
        settled,
        json!({"unit": "C", "days": 3, "of": ["rain", "wind"]})
    );

    let error = check_content(&schema, &content(&json!({"days": 0.5}))).unwrap_err();
    let problems = error.errors().iter();
    let messages: Vec<_> = problems
        .map(|problem| (problem.field(), problem.message()))
        .collect();
    assert_eq!(
        messages,
        [
            ("unit", "missing; expected one of `C`, `F`"),
            ("days", "expected an integer, got 0.5"),
        ]
    );
}

#[test]
fn bounds_without_a_schema_keyword_are_enforced() {
    #[mcp_form]
    struct Share {
        #[field(range = 0.0..1.0)]
        share: f32,
    }

    let schema = serde_json::to_value(Share::schema()).unwrap();
    let bounds = json!({"type": "number", "minimum": 0.0, "maximum": 1.0});
    assert_eq!(schema["properties"]["share"], bounds);
    let read = |share: f64| Share::read(content(&json!({"share": share})));
    assert!(read(0.5).is_ok_and(|form| (form.share - 0.5).abs() < f32::EPSILON));
    let error = read(1.0).err().unwrap();
    assert_eq!(error.errors()[0].message(), "1.0 is out of range");
}

/// A value that a field might contain.
fn any_value(random: &mut fastrand::Rng) -> Value {
    const TEXTS: [&str; 13] = [
        "",
        "a",
        "2026-07-28",
        "2026-07-28T09:30:00Z",
        "a@b.no",
        "https://example.com/",
        "Single",
        "double",
        "Hard",
        "Soft",
        "Sauna",
        "late",
        "\u{1f600}\u{0}\u{e9}",
    ];
    let text = |random: &mut fastrand::Rng| match random.u8(..4) {
        0 => (0..random.usize(..30)).map(|_| random.char(..)).collect(),
        _ => TEXTS[random.usize(..TEXTS.len())].to_owned(),
    };
    match random.u8(..8) {
        0 => random.bool().into(),
        1 => random.i64(-5..15).into(),
        2 => (random.f64() * 10.0).into(),
        3 => [
            json!(3.0),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e300),
            json!(-0.0),
        ][random.usize(..5)]
        .clone(),
        4 => (0..random.usize(..4)).map(|_| text(random)).collect(),
        _ => text(random).into(),
    }
}

#[test]
fn any_content_is_accepted_or_rejected_according_to_the_schema() {
    let schema = serde_json::to_value(Booking::schema()).unwrap();
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let names: Vec<_> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let mut random = fastrand::Rng::with_seed(7);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..6_000 {
        let mut entered = filled(&json!({}));
        for _ in 0..random.usize(..3) {
            entered[&names[random.usize(..names.len())]] = any_value(&mut random);
        }
        let outcome = read(&entered);
        assert_eq!(
            outcome.is_ok(),
            check_content(&Booking::schema(), &content(&entered)).is_ok()
        );
        if validator.is_valid(&entered) {
            assert!(outcome.is_ok(), "{entered}: {}", outcome.unwrap_err());
            accepted += 1;
        } else if let Err(error) = outcome {
            let fields = error.errors().iter().map(FieldError::field);
            assert!(
                fields.clone().count() > 0 && fields.clone().all(|it| entered.get(it).is_some())
            );
            refused += 1;
        } else {
            // Accepted beyond the schema: empty strings, comma-separated choices, and duplicate choices.
            let lenient = entered
                .as_object()
                .unwrap()
                .iter()
                .any(|(name, value)| value == "" || ["extras", "beds"].contains(&&**name));
            assert!(lenient, "{entered} is read, and is not as the schema says");
        }
    }
    assert!(
        accepted > 600 && refused > 600,
        "{accepted} accepted, {refused} refused"
    );
}
