//! Arguments of tools, against a struct that serde derives.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;
use treenail::prelude::*;

use crate::in_memory::{Peer, run as run_future, text};

/// Unit of a length.
#[mcp_type]
#[derive(Debug, PartialEq)]
enum Unit {
    Metre,
    Foot,
}

/// Place on a map.
#[mcp_type]
#[derive(Debug, PartialEq)]
struct Place {
    name: String,
    height: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
}

/// Arguments of [`survey`], and its result.
#[mcp_type]
#[derive(Debug, PartialEq)]
#[serde(deny_unknown_fields)]
struct Survey {
    count: i64,
    small: u8,
    ratio: f64,
    text: String,
    exact: bool,
    unit: Option<Unit>,
    lengths: Option<Vec<u32>>,
    place: Option<Place>,
    more: Option<BTreeMap<String, i16>>,
    days: Option<u8>,
}

/// Returns its arguments.
#[mcp_tool]
#[allow(clippy::too_many_arguments, reason = "they are what is tested")]
fn survey(
    count: i64,
    small: u8,
    ratio: f64,
    text: String,
    exact: bool,
    unit: Option<Unit>,
    lengths: Option<Vec<u32>>,
    place: Option<Place>,
    more: Option<BTreeMap<String, i16>>,
    #[arg(range = 1..=7)] days: Option<u8>,
) -> Survey {
    Survey {
        count,
        small,
        ratio,
        text,
        exact,
        unit,
        lengths,
        place,
        more,
        days,
    }
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let builder = Server::builder("survey", "1.0.0").tools(tools![survey]);
    builder.build().expect("the server is valid")
});

/// The input is the JSON text of the arguments.
pub(crate) fn run(data: &[u8]) {
    let Ok(arguments) = std::str::from_utf8(data) else {
        return;
    };
    if serde_json::from_str::<BTreeMap<String, &serde_json::value::RawValue>>(arguments).is_err() {
        // The text could close the object that surrounds it.
        return;
    }
    let members = format!(r#""name":"survey","arguments":{arguments}"#);
    let mut peer = Peer::modern(&SERVER, serde_json::json!({}));
    let answer = run_future(peer.modern_request("tools/call", &members));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    if answer["error"]["code"] == -32700 || message.contains("is nested deeper") {
        return;
    }
    let expected = serde_json::from_str::<Survey>(arguments)
        .ok()
        .filter(is_within_bounds);
    if answer["result"]["isError"] == true {
        assert!(expected.is_none(), "{answer}");
        check_report(text(&answer), arguments);
    } else {
        let found = Survey::deserialize(&answer["result"]["structuredContent"]);
        let found = found.expect("the result has the members of the arguments");
        match expected {
            Some(expected) => assert_eq!(found, expected),
            None => check_integers(&found, arguments),
        }
    }
}

fn is_within_bounds(survey: &Survey) -> bool {
    survey.days.is_none_or(|days| (1..=7).contains(&days))
}

/// Arguments that serde does not accept have an integer with a fraction or an exponent, such as `1e1`.
fn check_integers(found: &Survey, arguments: &str) {
    let Ok(mut arguments) = serde_json::from_str(arguments) else {
        // A number that is too large for a `Value`, in a member that is ignored.
        return;
    };
    if write_integers(&mut arguments) {
        let expected = Survey::deserialize(arguments).ok();
        let expected = expected.filter(is_within_bounds);
        assert_eq!(Some(found), expected.as_ref());
    }
}

/// Replaces floats without a fraction by integers. Returns false if one is too large to be exact.
fn write_integers(value: &mut Value) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or_default();
            if float.fract() == 0.0 && float.abs() < 9e15 {
                let integer = format!("{float:.0}").parse::<i64>();
                *value = integer.expect("it is small").into();
            }
            float.abs() < 9e15
        }
        Value::Array(items) => items.iter_mut().all(write_integers),
        Value::Object(members) => members.values_mut().all(write_integers),
        _ => true,
    }
}

/// The error names an argument of the tool, or one of the call.
fn check_report(report: &str, arguments: &str) {
    const HEADING: &str = "Wrong arguments for the tool `survey`:\n";
    const ADVICE: &str = "\nCorrect them and call the tool again.";
    const NAMES: [&str; 10] = [
        "count", "small", "ratio", "text", "exact", "unit", "lengths", "place", "more", "days",
    ];
    let lines = report
        .strip_prefix(HEADING)
        .and_then(|rest| rest.strip_suffix(ADVICE));
    let lines = lines.expect("the report has its heading and its advice");
    let given: BTreeMap<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    for line in lines.lines().filter(|line| !line.starts_with("- and ")) {
        let pointer = line
            .strip_prefix("- /")
            .unwrap_or_else(|| panic!("no pointer: {report}"));
        let name = pointer.split(['/', ':']).next().unwrap_or_default();
        let is_given = || {
            let name = name.replace("~1", "/").replace("~0", "~");
            // Control characters are escaped.
            let shown = |key: &str| {
                let shown = key.chars().map(|letter| match letter {
                    letter if letter.is_control() => letter.escape_default().to_string(),
                    letter => letter.to_string(),
                });
                shown.collect::<String>()
            };
            given.keys().any(|key| shown(key).starts_with(&name))
        };
        assert!(
            NAMES.contains(&name) || given.is_empty() || is_given(),
            "{report}"
        );
    }
}
