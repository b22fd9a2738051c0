//! Arguments that can be null, in generated clients.

use serde_json::json;
use treenail_codegen::Client;

#[test]
fn null_differs_from_a_missing_argument_if_the_client_keeps_it() {
    let text = json!({"type": ["string", "null"]});
    let schema = json!({
        "properties": {
            "cleared": text,
            "defaulted": {"type": ["string", "null"], "default": null},
            "needed": text,
            "plain": {"type": "string"},
        },
        "required": ["needed"],
    });
    let tool = json!({"name": "tool", "inputSchema": schema, "outputSchema": schema});
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": [tool]});
    let client = Client::from_json(lock.to_string());
    let merged = client.to_rust().unwrap();
    assert!(!merged.contains("Option<Option<"), "{merged}");
    let kept = client.keep_null().to_rust().unwrap();
    let attribute = "#[serde(deserialize_with = \"::treenail::__generated::present\")]";
    for part in [
        "pub cleared: Option<Option<String>>,",
        "pub fn with_cleared(mut self, value: Option<String>) -> Self {",
        "pub needed: Option<String>,",
        "pub plain: Option<String>,",
        attribute,
    ] {
        assert!(kept.contains(part), "{part}: {kept}");
    }
    for once in ["Option<Option<String>>", attribute] {
        assert_eq!(kept.matches(once).count(), 1, "{kept}");
    }
}
