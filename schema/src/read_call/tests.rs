//! Comparison with serde, over results with all kinds of members.

use super::{call_tool_result, common};
use crate::CallToolResult;

/// Values of each member, the last ones malformed.
const CONTENT: [&str; 14] = [
    r#"[{"type":"text","text":"3"}]"#,
    r#" [ {"text" : "a\n\u00e9" , "type":"text"} , {"type":"text","text":""} ] "#,
    "[]",
    r#"[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"é"}]"#,
    r#"[{"type":"text","text":"3","annotations":{"priority":1},"_meta":{"a":1}}]"#,
    r#"[{"t\u0079pe":"te\u0078t","text":"3","unknown":[{}]}]"#,
    r#"[{"type":"text","text":"\ud800"}]"#,
    r#"[{"type":"text","text":"3" }, {"type":"text","text": "4"},{"type":"text","text":"5","annotations":null}]"#,
    r#"[{"type":"text","text":"3","text":"4"}]"#,
    r#"[{"type":"text","type":"text","text":"4"}]"#,
    r#"[{"type":"text"}]"#,
    r#"[{"type":"text","text":1,"text":"3"}]"#,
    r#"[{"type":"new"}]"#,
    "null",
];
const OTHERS: [&str; 26] = [
    "",
    r#","isError":true"#,
    r#","isError":null,"structuredContent":null"#,
    r#","structuredContent":{"b":[1,-2,3.5,1e3],"a":null,"a":{}}"#,
    r#","structuredContent":{"a":-0,"b":123456789012345678,"c":1234567890123456789,"d":18446744073709551616}"#,
    r#","structuredContent":{"a":true,"b":false,"c":"\u00e9","b":0} "#,
    r#","structuredContent":{"a":1,}"#,
    r#","structuredContent":{"a":0,"b":-1,"c":-12,"d":10}"#,
    r#","structuredContent":{"a":01}"#,
    r#","structuredContent":{"a":1-2}"#,
    r#","structuredContent":12"#,
    r#","resultType":"complete""#,
    r#","resultType":"input_required","unknown":{"a":[]}"#,
    r#","resultType":"compl\u0065te","_meta":null"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}}"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":{"version":"1","name":"a","title":"A"},"b":[1],"a":2}"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":null,"fastmcp":{"wrap_result":true}}"#,
    r#","_meta":{"a":1,"a":2}"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a"}}"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","name":"b","version":"1"}}"#,
    r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":1,"name":"b","version":"1"}}"#,
    r#","isError":true,"isError":true"#,
    r#","isError":"true""#,
    r#","unknown":1,"unknown":2"#,
    r#","content":[]"#,
    ",",
];

#[test]
fn a_result_is_read_as_serde_reads_it() {
    for content in CONTENT {
        for others in OTHERS {
            let text = format!("{{\"content\":{content}{others}}}");
            let read = call_tool_result(&text).map_err(|error| error.to_string());
            let expected = serde_json::from_str(&text).map_err(|error| error.to_string());
            assert_eq!(read, expected, "{text}");
        }
    }
}

#[test]
fn a_usual_result_needs_no_second_reader() {
    for text in [
        r#"{"structuredContent":3,"content":[{"type":"text","text":"3"}],"resultType":"complete"}"#,
        r#"{"content":[{"type":"text","text":"a\n"}],"isError":false,"_meta":{"fastmcp":{"wrap_result":true}}}"#,
    ] {
        assert!(
            common(text, &mut CallToolResult::new([])).is_some(),
            "{text}"
        );
    }
    for text in ["{}", r#"{"content":[]} {}"#] {
        assert!(
            common(text, &mut CallToolResult::new([])).is_none(),
            "{text}"
        );
    }
}
