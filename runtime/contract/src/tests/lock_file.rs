//! Tests of lock files.

use serde_json::json;
use treenail_schema::{Implementation, Prompt, Resource, ResourceTemplate, Tool};

use super::{object, tool};
use crate::{Contract, ContractError};

const FILE: &str = r#"{
  "treenailLock": 1,
  "server": {
    "name": "weather",
    "version": "1.0"
  },
  "protocolVersion": "2026-07-28",
  "instructions": "Be kind.",
  "tools": [
    {
      "name": "a",
      "inputSchema": {
        "properties": {
          "required": {
            "const": {
              "a": 1,
              "type": [
                "b",
                "a"
              ]
            },
            "maximum": 1,
            "minimum": 0.5,
            "type": [
              "integer",
              "null"
            ]
          }
        },
        "required": [
          "a",
          "required"
        ],
        "type": "object"
      },
      "description": "Two\u202etexts é"
    },
    {
      "name": "b",
      "inputSchema": {}
    }
  ],
  "prompts": [
    {
      "name": "p"
    }
  ],
  "resourceTemplates": [
    {
      "name": "z",
      "uriTemplate": "a://{x}"
    },
    {
      "name": "a",
      "uriTemplate": "b://{x}"
    }
  ],
  "resources": [
    {
      "name": "r",
      "uri": "a://r"
    }
  ]
}
"#;

fn contract() -> Contract {
    let schema = json!({
        "type": "object",
        "required": ["required", "a", "required"],
        "properties": {"required": {
            "type": ["null", "integer"], "minimum": 0.5, "maximum": 1.0, "const": {"type": ["b", "a"], "a": 1},
        }},
    });
    let mut info = Implementation::new("weather", "1.0");
    info.website_url = Some("https://example.com".to_owned());
    let mut one = tool("a", schema).with_description("Two\u{202e}texts é");
    one.meta = serde_json::from_value(json!({"x": 1})).unwrap();
    one.icons = Some(Vec::new());
    Contract::new()
        .with_server(info)
        .with_protocol_version("2026-07-28")
        .with_instructions("Be kind.")
        .with_tools([
            tool("b", json!({})),
            one,
            tool("b", json!({"type": "object"})),
        ])
        .with_prompts([Prompt::new("p")])
        .with_resource_templates([
            ResourceTemplate::new("b://{x}", "a"),
            ResourceTemplate::new("a://{x}", "z"),
        ])
        .with_resources([Resource::new("a://r", "r")])
}

#[test]
fn a_contract_round_trips_through_its_lock_file() {
    let written = contract().to_json();
    assert_eq!(written, FILE);
    let read = Contract::from_json(&written).unwrap();
    assert_eq!(read, contract());
    assert_eq!(read.to_json(), written);
    assert_eq!(read.tool("b"), Some(&Tool::new("b", object(json!({})))));
    assert_eq!(read.server().unwrap().name, "weather");

    let smallest = Contract::from_json(r#"{"treenailLock": 1, "later": {}}"#).unwrap();
    assert_eq!(smallest, Contract::new());
    assert_eq!(Contract::from_json(&smallest.to_json()).unwrap(), smallest);
}

#[test]
fn a_contract_of_selected_tools_round_trips() {
    let used = contract().only_tools(["b"]).unwrap();
    let written = used.to_json();
    assert!(
        written.contains("\"only\": [\n    \"b\"\n  ],\n  \"tools\""),
        "{written}"
    );
    let read = Contract::from_json(&written).unwrap();
    assert_eq!(read, used);
    assert_eq!(read.to_json(), written);
    assert!(
        read.drift(&contract()).is_empty(),
        "{}",
        read.drift(&contract())
    );
    // Entries besides these tools are ignored, also in a file that is written by hand.
    let by_hand = FILE.replace("\"tools\":", "\"only\": [\"b\"], \"tools\":");
    assert_eq!(Contract::from_json(&by_hand).unwrap(), used);
    let unknown = r#"{"treenailLock": 1, "only": ["z"], "tools": []}"#;
    let error = Contract::from_json(unknown).unwrap_err();
    assert!(matches!(error, ContractError::UnknownTool(name) if name == "z"));
    // An empty selection is not the same as no selection.
    let none = contract().only_tools([""; 0]).unwrap();
    let read = Contract::from_json(&none.to_json()).unwrap();
    assert_eq!(read, none);
    assert!(read.drift(&contract()).is_empty());
}

#[test]
fn undeclared_outputs_round_trip() {
    let schema = || object(json!({"type": ["string", "null"]}));
    let outputs = [("a", schema()), ("b", schema())];
    let contract = contract().with_undeclared_outputs(outputs);
    let written = contract.to_json();
    assert_eq!(Contract::from_json(&written).unwrap(), contract);
    let used = contract.only_tools(["b"]).unwrap();
    let alone = r#""undeclaredOutputs": {
    "b": {
      "type": ["#;
    assert!(used.to_json().contains(alone), "{}", used.to_json());
    assert_eq!(Contract::from_json(&used.to_json()).unwrap(), used);
}

#[test]
fn errors_contain_reason_and_position() {
    let error = |text: &str| Contract::from_json(text).unwrap_err().to_string();
    for (text, expected) in [
        (
            "{\"tools\": []}",
            "not a lock file: it has no member `treenailLock`",
        ),
        (
            "{\"treenailLock\": 2, \"tools\": 5}",
            "the lock file has format 2; this version of Treenail supports format 1",
        ),
        (
            "{\"treenailLock\": 1,\n \"tools\": [{\"name\": 5}]}",
            "the lock file cannot be read: invalid type: integer `5`, expected a string, at line 2, column 21, in \
             `tools[0].name`",
        ),
        (
            "{\"treenailLock\": 1,",
            "the lock file cannot be read: EOF while parsing a value, at line 1, column 19",
        ),
        (
            "{\"treenailLock\": 1} x",
            "the lock file cannot be read: trailing characters, at line 1, column 21",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let twice = "{\"treenailLock\": 1, \"prompts\": [{\"name\": \"a\"}, {\"name\": \"a\"}]}";
    assert_eq!(error(twice), "the lock file has two prompts named `a`");
    assert!(matches!(
        Contract::from_json(twice),
        Err(ContractError::DuplicateName {
            list: "prompts",
            ..
        })
    ));
}

#[test]
fn invalid_lock_files_cause_no_panic() {
    let deep = "[".repeat(100_000);
    let schema =
        format!("{{\"treenailLock\":1,\"tools\":[{{\"name\":\"a\",\"inputSchema\":{{\"x\":{deep}");
    assert!(matches!(
        Contract::from_json(&schema),
        Err(ContractError::Malformed { .. })
    ));
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..1_000 {
        let mut bytes = FILE.as_bytes().to_vec();
        for _ in 0..random.usize(1..6) {
            let place = random.usize(..bytes.len());
            bytes[place] = *random.choice(b"{}[]\",:0a -e\\".iter()).unwrap();
        }
        if let Ok(read) = Contract::from_json(&String::from_utf8_lossy(&bytes)) {
            assert_eq!(Contract::from_json(&read.to_json()).unwrap(), read);
            let _ = contract().drift(&read).to_string();
        }
    }
}

#[test]
fn numbers_round_trip() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..2_000 {
        let float = f64::from_bits(random.u64(..));
        let number = match random.u8(..4) {
            0 => json!(random.u64(..)),
            1 => json!(random.i64(..)),
            2 => json!(random.f64()),
            _ => json!(if float.is_finite() { float } else { 1e300 }),
        };
        let contract = Contract::new().with_tools([tool("t", json!({"minimum": number}))]);
        let read = Contract::from_json(&contract.to_json()).unwrap();
        assert_eq!(read, contract, "{number}");
        let text = contract.to_json();
        assert_eq!(read.to_json(), text);
    }
}
