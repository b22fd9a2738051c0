//! The answer to one message.

use serde::Deserialize;

use crate::request::{Add, Call, Meta, Other, Request};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";
const SERVER: &str = r#"{"name":"floor-server","version":"0.0.0"}"#;

/// One peer, and what does not change from answer to answer.
pub(crate) struct Session {
    /// The handshake of the legacy era has been made.
    greeted: bool,
    /// What ends a result in the modern era.
    modern_end: String,
    legacy_tools: String,
    modern_tools: String,
}

#[derive(Clone, Copy)]
enum Era {
    Legacy,
    Modern,
}

type Refusal = (i32, &'static str);

impl Session {
    /// A server that lists so many tools.
    pub(crate) fn new(tools: usize) -> Self {
        let names: Vec<String> = match tools {
            1 => vec!["add".to_owned()],
            _ => (0..tools).map(|number| format!("add_{number}")).collect(),
        };
        let list = |end: &str| -> String {
            let tools: Vec<String> = names.iter().map(|name| tool(name) + end).collect();
            tools.join(",")
        };
        Self {
            greeted: false,
            modern_end: format!(
                r#","resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{SERVER}}}}}"#
            ),
            legacy_tools: list("}"),
            // What is not an object can be structured content, and so be declared, in the modern era only.
            modern_tools: list(r#","outputSchema":{"type":"integer"}}"#),
        }
    }

    pub(crate) fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let Ok(request) = serde_json::from_slice::<Request<'_>>(line) else {
            out.extend_from_slice(
                br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not a message"}}"#,
            );
            return out.push(b'\n');
        };
        let Some(id) = request.id else { return };
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(id.get().as_bytes());
        let before = out.len();
        out.extend_from_slice(br#","result":"#);
        if let Err((code, message)) = self.result(&request, out) {
            out.truncate(before);
            let error = format!(r#","error":{{"code":{code},"message":"{message}"}}"#);
            out.extend_from_slice(error.as_bytes());
        }
        out.extend_from_slice(b"}\n");
    }

    fn result(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        if request.jsonrpc != "2.0" {
            return Err((-32600, "`jsonrpc` is not 2.0"));
        }
        match request.method {
            "tools/call" => return self.call(request, out),
            "tools/list" => {
                let era = self.era(params::<Other<'_>>(request)?.meta.as_ref())?;
                out.extend_from_slice(br#"{"tools":["#);
                match era {
                    Era::Legacy => out.extend_from_slice(self.legacy_tools.as_bytes()),
                    Era::Modern => out.extend_from_slice(self.modern_tools.as_bytes()),
                }
                out.push(b']');
                if let Era::Modern = era {
                    out.extend_from_slice(br#","ttlMs":0,"cacheScope":"private""#);
                }
                self.end(era, out);
            }
            "initialize" => {
                self.greeted = true;
                let capabilities = r#""capabilities":{"tools":{}}"#;
                let result = format!(
                    r#"{{"protocolVersion":"{LEGACY}",{capabilities},"serverInfo":{SERVER}}}"#
                );
                out.extend_from_slice(result.as_bytes());
            }
            "ping" => out.extend_from_slice(b"{}"),
            _ => return Err((-32601, "method not found")),
        }
        Ok(())
    }

    fn call(&self, request: &Request<'_>, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let call: Call<'_> = params(request)?;
        let era = self.era(call.meta.as_ref())?;
        if call.name != "add" {
            return Err((-32602, "unknown tool"));
        }
        let Ok(Add { a, b }) = serde_json::from_str(call.arguments.get()) else {
            out.extend_from_slice(
                br#"{"content":[{"type":"text","text":"wrong arguments"}],"isError":true"#,
            );
            self.end(era, out);
            return Ok(());
        };
        let mut sum = itoa::Buffer::new();
        let sum = sum.format(a.wrapping_add(b)).as_bytes();
        // A number as structured content is of the modern era; in the legacy era it would have to be an object.
        if let Era::Modern = era {
            out.extend_from_slice(br#"{"structuredContent":"#);
            out.extend_from_slice(sum);
            out.push(b',');
        } else {
            out.push(b'{');
        }
        out.extend_from_slice(br#""content":[{"type":"text","text":""#);
        out.extend_from_slice(sum);
        out.extend_from_slice(br#""}]"#);
        self.end(era, out);
        Ok(())
    }

    fn era(&self, meta: Option<&Meta<'_>>) -> Result<Era, Refusal> {
        let (version, capabilities) = match meta {
            Some(Meta {
                version: Some(version),
                capabilities,
            }) => (*version, capabilities),
            _ if self.greeted => return Ok(Era::Legacy),
            _ => return Err((-32602, "no protocol version and no handshake")),
        };
        if version != MODERN {
            return Err((-32022, "unsupported protocol version"));
        }
        match capabilities {
            Some(capabilities) if capabilities.get().starts_with('{') => Ok(Era::Modern),
            _ => Err((-32602, "no client capabilities")),
        }
    }

    fn end(&self, era: Era, out: &mut Vec<u8>) {
        match era {
            Era::Legacy => out.push(b'}'),
            Era::Modern => out.extend_from_slice(self.modern_end.as_bytes()),
        }
    }
}

fn params<'a, T: Deserialize<'a>>(request: &Request<'a>) -> Result<T, Refusal> {
    let params = request
        .params
        .map_or("{}", serde_json::value::RawValue::get);
    serde_json::from_str(params).map_err(|_| (-32602, "wrong params"))
}

/// A tool in a list, without the closing brace.
fn tool(name: &str) -> String {
    let integer = r#"{"type":"integer"}"#;
    let schema = format!(
        r#"{{"type":"object","properties":{{"a":{integer},"b":{integer}}},"required":["a","b"],"additionalProperties":false}}"#
    );
    format!(r#"{{"name":"{name}","description":"Adds two integers.","inputSchema":{schema}"#)
}
