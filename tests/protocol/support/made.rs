//! Descriptors of a server whose features macros have made, for twins of them that are made at run time.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use treenail::Server;
use treenail::dynamic::{Arguments, Prompt, Resource, ResourceTemplate, Tool};
use treenail::schema::{self, Revision};

/// Descriptors of a server.
pub(crate) struct Made {
    tools: Vec<schema::Tool>,
    prompts: Vec<schema::Prompt>,
    resources: Vec<schema::Resource>,
    templates: Vec<schema::ResourceTemplate>,
}

impl Made {
    pub(crate) fn of(server: &Server) -> Self {
        Self {
            tools: list(server, "tools/list", "tools"),
            prompts: list(server, "prompts/list", "prompts"),
            resources: list(server, "resources/list", "resources"),
            templates: list(server, "resources/templates/list", "resourceTemplates"),
        }
    }

    pub(crate) fn tool(&self, name: &str) -> Tool {
        find(&self.tools, |tool| tool.name == name).into()
    }

    pub(crate) fn prompt(&self, name: &str) -> Prompt {
        find(&self.prompts, |prompt| prompt.name == name).into()
    }

    pub(crate) fn resource(&self, uri: &str) -> Resource {
        find(&self.resources, |resource| resource.uri == uri).into()
    }

    pub(crate) fn template(&self, uri: &str) -> ResourceTemplate {
        find(&self.templates, |template| template.uri_template == uri).into()
    }
}

fn find<D: Clone>(descriptors: &[D], is_it: impl Fn(&D) -> bool) -> D {
    let found = descriptors.iter().find(|descriptor| is_it(descriptor));
    found.expect("macros have made it").clone()
}

/// Lists descriptors in the newest revision.
fn list<D: DeserializeOwned>(server: &Server, method: &str, member: &str) -> Vec<D> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": Revision::LATEST.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut out = Vec::new();
    server
        .connect()
        .handle_message(request.to_string().as_bytes(), &mut out);
    let answer: Value = serde_json::from_slice(&out).unwrap();
    let listed = answer["result"][member].clone();
    // A server without any has no such method.
    serde_json::from_value(listed).unwrap_or_default()
}

/// Returns an argument; a missing one is read from null.
pub(crate) fn get<T: DeserializeOwned>(arguments: &Arguments, name: &str) -> T {
    serde_json::from_value(arguments.value()[name].clone()).unwrap()
}
