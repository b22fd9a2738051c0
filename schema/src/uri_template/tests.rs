//! Expansion of valid, malformed and random templates.

use serde_json::{Value, json};

use super::expand_uri_template;

fn expand(template: &str, values: &Value) -> Result<String, String> {
    expand_uri_template(template, values.as_object().expect("an object"))
}

#[test]
fn templates_expand_to_uris() {
    let values = json!({
        "city": "São Paulo", "path": "a/ö b", "day": 3, "wet": true, "none": null, "empty": "",
        "list": ["x", "y z"], "keys": {"k": "v&", "l": 2}, "half": "50%", "done": "a%20b",
        "nothing": [],
    });
    let cases = [
        ("plain://text", "plain://text"),
        ("w://{city}/{day}", "w://S%C3%A3o%20Paulo/3"),
        ("f:///{+path}", "f:///a/%C3%B6%20b"),
        ("w://a{#path}", "w://a#a/%C3%B6%20b"),
        ("w://a{?day,wet,none,other}", "w://a?day=3&wet=true"),
        ("w://a?x=1{&day,empty}", "w://a?x=1&day=3&empty="),
        ("w://a{;day,empty}", "w://a;day=3;empty"),
        ("w://a{.day,wet}", "w://a.3.true"),
        ("w://a{/day,wet}", "w://a/3/true"),
        ("w://a{/list*}", "w://a/x/y%20z"),
        ("w://a/{list}", "w://a/x,y%20z"),
        ("w://a{?list}", "w://a?list=x,y%20z"),
        ("w://a{?list*}", "w://a?list=x&list=y%20z"),
        ("w://a/{keys}", "w://a/k,v%26,l,2"),
        ("w://a{?keys*}", "w://a?k=v%26&l=2"),
        ("w://a{?keys}", "w://a?keys=k,v%26,l,2"),
        ("w://a{;keys*}", "w://a;k=v%26;l=2"),
        ("w://a{+keys*}", "w://ak=v&,l=2"),
        ("w://a/{city:3}", "w://a/S%C3%A3o"),
        ("w://a/{none}{other}{nothing}{?nothing}", "w://a/"),
        (
            "w://a/{half}/{+half}/{+done}/{done}",
            "w://a/50%25/50%25/a%20b/a%2520b",
        ),
    ];
    for (template, uri) in cases {
        assert_eq!(expand(template, &values).unwrap(), uri, "{template}");
    }
}

#[test]
fn malformed_templates_are_errors() {
    for template in [
        "a://{city",
        "a://{}",
        "a://{?}",
        "a://{a b}",
        "a://{a:x}",
        "a://{a,,b}",
    ] {
        assert!(expand(template, &json!({})).is_err(), "{template}");
    }
}

#[test]
fn long_uris_are_errors() {
    let longest = "x".repeat(1 << 20);
    let list = vec![""; 1_000];
    let values = json!({"v": "x".repeat(500), "w": longest});
    for (template, why) in [
        ("{v}".repeat(1 << 20), "many expressions"),
        (format!("{{{}v}}", "v,".repeat(1 << 20)), "many variables"),
        ("x{w}".to_owned(), "a long value"),
        ("{w}x".to_owned(), "a literal beyond the limit"),
        ("x".repeat((1 << 20) + 1), "a long literal"),
    ] {
        let error = expand(&template, &values).unwrap_err();
        assert!(
            error.contains("longer than 1048576 bytes"),
            "{why}: {error}"
        );
    }
    let name = "n".repeat(2_000);
    let error = expand(&format!("{{?{name}*}}"), &json!({name: list})).unwrap_err();
    assert!(
        error.contains("longer than"),
        "a name for each item: {error}"
    );
    assert_eq!(expand("{w}", &values).unwrap(), longest);
}

#[test]
fn random_templates_never_panic_and_expand_to_ascii() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut text = || -> String {
        let length = random.usize(..12);
        (0..length)
            .map(|_| match random.u8(..3) {
                0 => random.char(..),
                1 => random
                    .choice(['{', '}', '%', '*', ':', ',', '3', '?'])
                    .unwrap_or('a'),
                _ => random.alphanumeric(),
            })
            .collect()
    };
    for _ in 0..20_000 {
        let (value, other) = (text(), text());
        for template in [
            "{a}", "{+a}", "{#a}", "{/a*}", "{?a,b}", "{&b*}", "{;a:3}", &other,
        ] {
            let expanded = expand(template, &json!({"a": value, "b": [value, other]}));
            assert!(expanded.is_ok_and(|uri| uri.is_ascii()) || template == other);
        }
    }
}
