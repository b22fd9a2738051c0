//! Schemas of forms in each revision.

use serde_json::{Value, json};
use treenail::__private_0_1_0::downgrade_form;
use treenail::form::Form;
use treenail::schema::Revision;

use crate::forms::Booking;
use crate::support::covering::{covering, covering_one};
use crate::support::validator::{check, definitions, is_plain};

/// Revisions with forms.
const REVISIONS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

fn spoken(revision: Revision) -> Value {
    serde_json::to_value(downgrade_form(Booking::schema(), revision)).unwrap()
}

#[test]
fn form_schemas_are_valid_in_each_revision() {
    for revision in covering("SRV-ELI-03, SRV-ELI-04, SRV-ELI-05 since 2025-06-18") {
        let form = spoken(revision);
        let params = json!({"message": "Which?", "requestedSchema": form});
        let request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params,
        });
        check(revision, "ElicitRequest", &request);
        let kinds: Vec<_> = definitions(revision)
            .into_iter()
            .filter(|name| name.ends_with("Schema"))
            .collect();
        for (name, field) in form["properties"].as_object().unwrap() {
            // The union types of the official schema are too permissive: they allow any members in a string field.
            assert!(
                kinds.iter().any(|kind| is_plain(revision, kind, field)),
                "`{name}` is of no kind that {revision} has: {field}"
            );
        }
    }
}

#[test]
fn newer_revisions_get_the_complete_schema() {
    let form = json!({
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "description": "The first night"},
            "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 12, "default": 2},
            "note": {
                "type": "string", "minLength": 2, "maxLength": 20,
                "description": "Anything that we should know",
            },
            "breakfast": {"type": "boolean"},
            "late": {"type": "boolean", "default": false},
            "room": {
                "type": "string", "description": "Which room", "default": "double",
                "oneOf": [
                    {"const": "Single", "title": "Single"},
                    {"const": "double", "title": "Double room"},
                ],
            },
            "bed": {"type": "string", "enum": ["Hard", "Soft"]},
            "budget": {"type": "number", "minimum": 0.5, "default": 1.5},
            "floor": {"type": "integer", "minimum": -3, "maximum": 2},
            "extras": {
                "type": "array", "title": "Extras", "description": "What else",
                "minItems": 1, "maxItems": 2, "default": ["Sauna"],
                "items": {"anyOf": [
                    {"const": "Sauna", "title": "Sauna"},
                    {"const": "late", "title": "Late, until 12"},
                    {"const": "late, late", "title": "Latest"},
                ]},
            },
            "beds": {"type": "array", "items": {"type": "string", "enum": ["Hard", "Soft"]}},
            "e-mail": {"type": "string", "format": "email"},
            "site": {"type": "string", "format": "uri", "default": "https://example.com/"},
            "arrival": {"type": "string", "format": "date-time"},
        },
        "required": ["day", "breakfast"],
    });
    for revision in covering("SRV-ELI-04, SRV-ELI-05 since 2025-11-25") {
        assert_eq!(spoken(revision), form, "{revision}");
    }
}

#[test]
fn the_first_revision_with_forms_gets_a_downgraded_schema() {
    let revision = covering_one("SRV-ELI-04 in 2025-06-18");
    // SRV-ELI-04, SRV-ELI-05: later revisions added defaults other than booleans, titled choices and multiple choices.
    let form = json!({
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date", "description": "The first night"},
            "guests": {
                "type": "integer", "title": "Guests", "minimum": 1, "maximum": 12,
                "description": "default: 2",
            },
            "note": {
                "type": "string", "minLength": 2, "maxLength": 20,
                "description": "Anything that we should know",
            },
            "breakfast": {"type": "boolean"},
            "late": {"type": "boolean", "default": false},
            "room": {
                "type": "string", "description": "Which room (default: Double room)",
                "enum": ["Single", "double"], "enumNames": ["Single", "Double room"],
            },
            "bed": {"type": "string", "enum": ["Hard", "Soft"]},
            "budget": {"type": "number", "minimum": 0.5, "description": "default: 1.5"},
            "floor": {"type": "integer", "minimum": -3, "maximum": 2},
            "extras": {
                "type": "string", "title": "Extras",
                "description":
                    "What else (1 to 2 of Sauna, Late, until 12, Latest, separated by commas) (default: Sauna)",
            },
            "beds": {"type": "string", "description": "any of Hard, Soft, separated by commas"},
            "e-mail": {"type": "string", "format": "email"},
            "site": {
                "type": "string", "format": "uri", "description": "default: https://example.com/",
            },
            "arrival": {"type": "string", "format": "date-time"},
        },
        "required": ["day", "breakfast"],
    });
    assert_eq!(spoken(revision), form);
}

#[test]
fn fields_are_in_source_order() {
    for revision in REVISIONS {
        let form = serde_json::to_string(&spoken(revision)["properties"]).unwrap();
        let order = [
            "day",
            "guests",
            "note",
            "breakfast",
            "late",
            "room",
            "bed",
            "budget",
            "floor",
        ];
        let places = order.map(|name| form.find(&format!("\"{name}\":{{")).unwrap());
        assert!(places.is_sorted(), "{revision}: {form}");
    }
}
