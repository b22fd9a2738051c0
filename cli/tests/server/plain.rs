//! Minimal server of the newest revision without a framework. It declares resources but implements no templates. In slow
//! mode, it drops its first message.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

const REVISION: &str = "2026-07-28";

pub(crate) fn serve(drops_first: bool) -> io::Result<()> {
    let mut output = io::stdout().lock();
    let lines = io::stdin().lock().lines();
    for line in lines.skip(usize::from(drops_first)) {
        let message: Value = serde_json::from_str(&line?)?;
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            continue;
        };
        let mut response = response_to(method);
        response["jsonrpc"] = json!("2.0");
        response["id"] = id.clone();
        writeln!(output, "{response}")?;
        output.flush()?;
    }
    Ok(())
}

fn response_to(method: &str) -> Value {
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": [REVISION], "capabilities": {"tools": {}, "resources": {}},
        }),
        "tools/list" => {
            let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
            json!({"tools": [tool], "ttlMs": 0, "cacheScope": "private"})
        }
        "resources/list" => json!({"resources": [], "ttlMs": 0, "cacheScope": "private"}),
        "initialize" => {
            let data = json!({"supported": [REVISION], "requested": "2025-11-25"});
            return json!({"error": {"code": -32022, "message": "no handshake", "data": data}});
        }
        _ => return json!({"error": {"code": -32601, "message": "unknown method"}}),
    };
    result["resultType"] = json!("complete");
    json!({"result": result})
}
