//! Edits of texts in several layouts.

use serde_json::json;

use super::Document;

#[track_caller]
fn check_set(before: &str, after: &str) {
    let document = Document::parse(before).unwrap();
    let edited = document
        .set("mcpServers", "new", &json!({"command": "c"}))
        .unwrap();
    assert_eq!(edited.text(), after);
    // The addition is undone, apart from an object that had to be created.
    let removed = edited.remove("mcpServers", "new").unwrap().unwrap();
    let again = removed
        .set("mcpServers", "new", &json!({"command": "c"}))
        .unwrap();
    assert_eq!(again.value(), edited.value());
}

#[track_caller]
fn check_remove(before: &str, after: &str) {
    let document = Document::parse(before).unwrap();
    let edited = document.remove("mcpServers", "old").unwrap().unwrap();
    assert_eq!(edited.text(), after);
}

#[test]
fn missing_objects_are_created() {
    let whole = "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"c\"\n    }\n  }\n}";
    check_set("", &format!("{whole}\n"));
    check_set("{}", whole);
    check_set("{\n}\n", &format!("{whole}\n"));
    check_set("// mine\n", &format!("// mine\n{whole}\n"));
    check_set("{\n  \"mcpServers\": {}\n}", whole);
    check_set("{\n  \"mcpServers\": null\n}", whole);
}

#[test]
fn layout_of_the_file_is_adopted() {
    check_set(
        "{\r\n\t\"a\": 1\r\n}\r\n",
        "{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"new\": {\r\n\t\t\t\"command\": \"c\"\r\n\t\t}\r\n\t}\r\n}\r\n",
    );
    check_set(
        r#"{"a":1,"mcpServers":{}}"#,
        r#"{"a":1,"mcpServers":{"new": {"command":"c"}}}"#,
    );
    check_set(
        r#"{"mcpServers":{"old":{}}}"#,
        r#"{"mcpServers":{"old":{}, "new": {"command":"c"}}}"#,
    );
    check_set(
        "{\n    \"mcpServers\": {\"old\": {},}\n}",
        "{\n    \"mcpServers\": {\"old\": {}, \"new\": {\"command\":\"c\"},}\n}",
    );
    check_set(
        "{\n  \"mcpServers\": { // two\n    \"old\": {} }}",
        "{\n  \"mcpServers\": { // two\n    \"old\": {},\n    \"new\": {\n      \"command\": \"c\"\n    } }}",
    );
}

#[test]
fn comments_and_trailing_commas_remain() {
    let new = "    \"new\": {\n      \"command\": \"c\"\n    }";
    let head = "{\n  // servers\n  \"mcpServers\": {\n    \"old\": {\"command\": \"o\"}";
    let tail = "\n    // end\n  },\n  \"other\": [1, 2,], // last\n}\n";
    check_set(
        &format!("{head} // mine{tail}"),
        &format!("{head}, // mine\n{new}{tail}"),
    );
    check_set(
        &format!("{head}, // mine{tail}"),
        &format!("{head}, // mine\n{new},{tail}"),
    );
    check_set(
        &format!("{head} /* , */ , /* two\nlines */{tail}"),
        &format!("{head} /* , */ ,\n{new}, /* two\nlines */{tail}"),
    );
    check_set(
        "{\n  \"mcpServers\": {\n    // none\n  }\n}",
        &format!("{{\n  \"mcpServers\": {{\n    // none\n{new}\n  }}\n}}"),
    );
}

#[test]
fn entry_is_replaced_in_its_place() {
    check_set(
        "{\n  \"mcpServers\": {\n    \"new\": {\"url\": \"u\"}, // it\n    \"x\": 1\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"c\"\n    }, // it\n    \"x\": 1\n  }\n}",
    );
}

#[test]
fn entry_is_removed_with_its_line() {
    let wrap = |inner: &str| format!("{{\n  \"mcpServers\": {{\n{inner}  }}\n}}\n");
    let empty = "{\n  \"mcpServers\": {}\n}\n";
    check_remove(&wrap("    \"old\": {\n      \"a\": [1]\n    }\n"), empty);
    check_remove(
        &wrap("    \"old\": {}, // it\n    \"b\": 1\n"),
        &wrap("    \"b\": 1\n"),
    );
    check_remove(
        &wrap("    \"b\": 1, // b\n    \"old\": {} // it\n"),
        &wrap("    \"b\": 1 // b\n"),
    );
    check_remove(
        &wrap("    \"b\": 1,\n    \"old\": {},\n"),
        &wrap("    \"b\": 1,\n"),
    );
    check_remove(
        &wrap("    \"a\": 1, \"old\": {}, \"b\": 1\n"),
        &wrap("    \"a\": 1, \"b\": 1\n"),
    );
    check_remove(
        &wrap("    \"old\": {}, \"b\": 1\n"),
        &wrap("    \"b\": 1\n"),
    );
    check_remove(
        &wrap("    // note\n    \"old\": {}\n"),
        &wrap("    // note\n"),
    );
    check_remove(
        &wrap("    \"a\": 1,\n    /* keep */ \"old\": {}\n"),
        &wrap("    \"a\": 1\n    /* keep */\n"),
    );
    check_remove(
        r#"{"mcpServers":{ /* keep */ "old":{}}}"#,
        r#"{"mcpServers":{ /* keep */}}"#,
    );
    check_remove(
        r#"{"mcpServers":{"a":1,"old":{}}}"#,
        r#"{"mcpServers":{"a":1}}"#,
    );
    check_remove(
        r#"{"mcpServers":{"old":{},"a":1}}"#,
        r#"{"mcpServers":{"a":1}}"#,
    );
}

#[test]
fn missing_entry_is_not_removed() {
    for text in ["", "{}", "{\"mcpServers\": {}}", "{\"mcpServers\": 1}"] {
        let document = Document::parse(text).unwrap();
        assert!(document.remove("mcpServers", "old").unwrap().is_none());
    }
}

#[test]
fn unexpected_documents_are_refused_with_a_position() {
    let error = |text: &str| Document::parse(text).unwrap_err();
    assert_eq!(error("[]"), "expected a JSON object");
    assert_eq!(error("{\n  \"a\": }"), "line 2, column 8: expected value");
    assert_eq!(
        error("{\"a\": \"secret"),
        "line 1, column 13: EOF while parsing a string"
    );
    assert!(error(&"[".repeat(100_000)).contains("recursion limit exceeded"));

    let set = |text: &str| {
        let document = Document::parse(text).unwrap();
        document.set("mcpServers", "new", &json!({})).unwrap_err()
    };
    assert_eq!(set("{\"mcpServers\": []}"), "`mcpServers` is not an object");
    let twice = "{\"mcpServers\": {\"new\": 1,\n\"new\": 2}}";
    assert_eq!(set(twice), "line 2: `new` is there twice; remove one");
}

#[test]
fn values_of_variables_and_headers_are_masked() {
    let text = r#"{"mcpServers": {"a": {"env": {"A": "s", "B": 1}, "args": ["x"]}, "b": {"headers": {"C": "s"}}, "c": 1}}"#;
    let masked = Document::parse(text).unwrap().masked();
    let expected = r#"{"mcpServers": {"a": {"env": {"A": "…", "B": "…"}, "args": ["x"]}, "b": {"headers": {"C": "…"}}, "c": 1}}"#;
    assert_eq!(masked, expected);
}

#[test]
fn values_are_masked_outside_of_servers_too() {
    let text = r#"{"mcpServers": {"z": {"command": {"env": {"K": "s"}}}}, "projects": {"/p": {"mcpServers": {"b": {"env": {"K": "s"}}}}}, "env": {"T": ["s"]}, "tasks": [1, [{"headers": {"H": "s"}}]], "x": {"env": "plain"}}"#;
    let masked = Document::parse(text).unwrap().masked();
    let expected = text
        .replace(r#"["s"]"#, r#""…""#)
        .replace(r#""s""#, r#""…""#);
    assert_eq!(masked, expected);
}
