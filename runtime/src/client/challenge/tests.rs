//! Tests of the parser of challenges.

use super::*;

/// Scheme, token and parameters of each challenge, in a form that is easy to compare.
fn parsed(values: &[&str]) -> String {
    let challenges = Challenges::parse(values);
    let shown = challenges.iter().map(|challenge| {
        let token = challenge.token.iter().map(|token| format!("<{token}>"));
        let parameters = challenge.parameters.iter();
        let parameters = parameters.map(|(name, value)| format!("{name}={value}"));
        let parts: Vec<_> = token.chain(parameters).collect();
        format!("{}({})", challenge.scheme, parts.join(";"))
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
#[allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]
fn challenges_follow_the_grammar_of_http() {
    let cases: [(&str, &[&str], &str); 13] = [
        ("AUTH-C-13: none", &[], ""),
        ("AUTH-C-13: a scheme alone", &["Bearer"], "Bearer()"),
        (
            "AUTH-C-13: parameters",
            &[r#"Bearer realm="a b", error="invalid_token""#],
            "Bearer(realm=a b;error=invalid_token)",
        ),
        (
            "AUTH-C-13: several challenges in one field",
            &[r#"Basic realm="a", Bearer scope="x y", Negotiate, NTLM TlRMTVNTUAAB="#],
            "Basic(realm=a) Bearer(scope=x y) Negotiate() NTLM(<TlRMTVNTUAAB=>)",
        ),
        (
            "AUTH-C-13: several fields",
            &[r#"Basic realm="a""#, r#"Bearer realm="b""#],
            "Basic(realm=a) Bearer(realm=b)",
        ),
        (
            "AUTH-C-13: names without case",
            &[r#"bEARER Scope="x", ERROR=insufficient_scope"#],
            "bEARER(Scope=x;ERROR=insufficient_scope)",
        ),
        (
            "AUTH-C-13: escapes, commas and equals signs in quoted strings",
            &[r#"Bearer error_description="a \"b\\c\", scope=\"admin\"", scope="x=1""#],
            r#"Bearer(error_description=a "b\c", scope="admin";scope=x=1)"#,
        ),
        (
            "AUTH-C-13: blanks around the equals sign, and empty elements",
            &["Bearer ,, realm \t= \t\"a\" ,\t, scope= x,"],
            "Bearer(realm=a;scope=x)",
        ),
        (
            "AUTH-C-14: parameters stay with their challenge",
            &[
                r#"Bearer error="a", Basic realm="b", scope="c""#,
                r#"scope="d", Bearer"#,
            ],
            "Bearer(error=a) Basic(realm=b;scope=c) Bearer()",
        ),
        (
            "AUTH-C-16: values without quotes",
            &[
                "Bearer resource_metadata=https://a.example/.well-known/x?y=z, scope=a:b c/d, error=e",
            ],
            "Bearer(resource_metadata=https://a.example/.well-known/x?y=z;scope=a:b c/d;error=e)",
        ),
        (
            "AUTH-C-14: a list without quotes ends before the next challenge",
            &["Bearer scope=a Basic realm=b"],
            "Bearer(scope=a) Basic(realm=b)",
        ),
        (
            "AUTH-C-16: values that cannot be parsed are absent",
            &["Bearer a=b\"c, scope=\"\u{7f}\", error=\"e\", realm=\"open, scope=\"x"],
            "Bearer(error=e;realm=open, scope=) x()",
        ),
        (
            "AUTH-C-16: a string without end is absent",
            &[r#"Bearer error="e", scope="a b"#],
            "Bearer(error=e)",
        ),
    ];
    for (claim, values, expected) in cases {
        assert_eq!(parsed(values), expected, "{claim}");
    }
    let not_utf8 = Challenges::parse([b"Bearer scope=\"\xff\", error=e".as_slice()]);
    let bearer = not_utf8.with_scheme("BEARER").next().unwrap();
    assert_eq!(bearer.parameter("scope"), None, "AUTH-C-16");
    assert_eq!(bearer.parameter("ERROR"), Some("e"), "AUTH-C-13");
}

#[test]
fn the_text_of_a_description_is_no_parameter() {
    let challenges = Challenges::parse([
        r#"Bearer error_description="scope=admin, resource_metadata=https://evil.example""#,
        r#"Bearer error_description="\", scope=\"admin", error=a"#,
    ]);
    for challenge in challenges.iter() {
        assert_eq!(challenge.parameter("scope"), None, "AUTH-C-15");
        assert_eq!(challenge.parameter("resource_metadata"), None, "AUTH-C-15");
    }
}

#[test]
fn a_parameter_may_occur_twice() {
    let challenges =
        Challenges::parse([r#"Bearer resource_metadata="/a", x=y, Resource_Metadata="/b""#]);
    let bearer = challenges.with_scheme("Bearer").next().unwrap();
    let urls: Vec<_> = bearer.values("resource_metadata").collect();
    assert_eq!(urls, ["/a", "/b"], "AUTH-C-16");
}

#[test]
fn the_size_of_all_values_is_bounded() {
    let long = format!("Bearer realm=\"{}\"", "x".repeat(8 * 1024 - 20));
    assert_eq!(Challenges::parse([&*long]).iter().count(), 1, "AUTH-C-17");
    let longer = Challenges::parse([&*long, "Basic realm=\"y\"", "Negotiate"]);
    assert_eq!(longer.iter().count(), 1, "AUTH-C-17");
    let too_long = format!("Negotiate {}", "x".repeat(8 * 1024));
    let after = Challenges::parse([&*too_long, "Bearer scope=\"a\""]);
    assert_eq!(after.iter().count(), 1, "AUTH-C-17");
    assert!(after.with_scheme("Bearer").next().is_some(), "AUTH-C-17");
}

/// Bytes that are likely to form challenges.
fn random_value(random: &mut fastrand::Rng) -> Vec<u8> {
    const PARTS: [&str; 16] = [
        "Bearer", "Basic", "scope", "error", "a", "=", "=", "\"", "\"", "\\", ",", ",", " ", "\t",
        "==", "x/y",
    ];
    let mut value = Vec::new();
    for _ in 0..random.usize(..24) {
        match random.u8(..8) {
            0 => value.push(random.u8(..)),
            _ => value.extend_from_slice(random.choice(PARTS).unwrap().as_bytes()),
        }
    }
    value
}

#[test]
fn random_bytes_are_parsed_within_the_rules() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let value = random_value(&mut random);
        let challenges = Challenges::parse([&value]);
        for challenge in challenges.iter() {
            assert!(!challenge.scheme().is_empty(), "{value:?}");
            for (name, text) in &challenge.parameters {
                assert!(!name.is_empty(), "{value:?}");
                assert!(!text.chars().any(char::is_control), "{value:?}");
                assert!(text.len() <= value.len(), "{value:?}");
            }
        }
        let shown = challenges.to_string();
        assert!(!shown.chars().any(char::is_control), "{value:?}");
    }
}

#[test]
fn fields_are_independent_of_each_other() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..20_000 {
        let fields = [random_value(&mut random), random_value(&mut random)];
        let together = Challenges::parse(&fields);
        let apart = fields
            .iter()
            .flat_map(|field| Challenges::parse([field]).0)
            .collect();
        assert_eq!(together, Challenges(apart), "AUTH-C-14: {fields:?}");
    }
}

#[test]
fn well_formed_challenges_are_parsed_however_they_are_split_into_fields() {
    let mut random = fastrand::Rng::with_seed(9);
    let challenges = [
        r#"Bearer resource_metadata="https://a.example/x", scope="a b""#,
        r#"Basic realm="say \"hi\", now""#,
        "Negotiate YWJj==",
        r#"DPoP algs="ES256 EdDSA" , error = invalid_token"#,
        "Custom",
    ];
    let expected = parsed(&challenges);
    for _ in 0..200 {
        let mut fields = vec![String::new()];
        for challenge in challenges {
            if random.bool() {
                fields.push(String::new());
            }
            let field = fields.last_mut().unwrap();
            field.push_str(challenge);
            field.push_str(random.choice([",", ", ", " ,\t", ",, "]).unwrap());
        }
        let fields: Vec<_> = fields.iter().map(String::as_str).collect();
        assert_eq!(parsed(&fields), expected, "AUTH-C-13: {fields:?}");
    }
}

#[test]
fn the_message_of_a_refusal_has_the_reason_and_the_scopes() {
    let refusal = |challenge: &str, body: &str| {
        let challenges = Challenges::parse([challenge]);
        Unauthorized {
            status: 403,
            challenges,
            body: body.into(),
        }
        .to_string()
    };
    let start = "the server requires authorization (HTTP status 403)";
    let insufficient = r#"Bearer error="insufficient_scope", scope="notes:write", error_description="a note is written""#;
    assert_eq!(
        refusal(insufficient, r#"{"jsonrpc":"2.0","error":{"code":-32"#),
        format!(
            "{start}; it accepts `Bearer` with error `insufficient_scope`: `a note is written`; it needs `notes:write`"
        )
    );
    assert_eq!(
        refusal("Basic", "sign in first"),
        format!("{start}; it accepts `Basic`: `sign in first`")
    );
}
