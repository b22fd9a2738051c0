//! Templates of resources of a server: a URI that matches has the values of its variables, and these cannot escape a folder.

use serde_json::{Map, Value, json};
use treenail::Server;
use treenail::client::UrlTemplate;
use treenail::dynamic::ResourceTemplate;

use crate::in_memory::{Peer, run as run_future};
use crate::texts;

/// The texts are a template, a URI, and values of the first two variables.
pub(crate) fn run(data: &[u8]) {
    let Some([template, uri, first, second]) = texts(data) else {
        return;
    };
    let names = variables(template);
    let Some(server) = server(template, &names) else {
        return;
    };
    run_future(async {
        if let Some(found) = read(&server, uri).await {
            check_values(template, &found);
            check_round_trip(&server, template, &found).await;
        }
        let values = names.iter().zip([first, second]);
        let values: Map<String, Value> = values
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        if let Some(found) = read(&server, &expand(template, &values)).await {
            check_values(template, &found);
        }
    });
}

/// Returns the names of the variables.
fn variables(template: &str) -> Vec<String> {
    let expressions = template
        .split('{')
        .skip(1)
        .filter_map(|part| part.split('}').next());
    let names = expressions.map(|name| name.trim_start_matches(['+', '#', '/', '.']).to_owned());
    names.collect()
}

/// Makes a server with the template, whose handler returns the variables. `None` if the template is invalid.
fn server(template: &str, names: &[String]) -> Option<Server> {
    let names = names.to_vec();
    let resource = ResourceTemplate::new(template, "t").handler(move |_, request| {
        let values = names
            .iter()
            .map(|name| (name.clone(), json!(request.variable(name))));
        let values = Value::Object(values.collect()).to_string();
        async move { values }
    });
    Server::builder("resources", "1.0.0")
        .add(resource)
        .build()
        .ok()
}

/// Reads a URI. Returns the values of the variables, if the template matches.
async fn read(server: &Server, uri: &str) -> Option<Map<String, Value>> {
    let mut peer = Peer::modern(server, json!({}));
    let members = format!(r#""uri":{}"#, json!(uri));
    let answer = peer.modern_request("resources/read", &members).await;
    let text = answer["result"]["contents"][0]["text"].as_str()?;
    let values = serde_json::from_str(text).expect("the handler returns JSON");
    assert_eq!(answer["result"]["contents"][0]["uri"], uri);
    Some(values)
}

/// No value can escape the folder that a handler joins it to.
fn check_values(template: &str, values: &Map<String, Value>) {
    for (name, value) in values {
        let value = value.as_str().expect("each variable has a value");
        assert!(!value.is_empty(), "{name}");
        assert!(!value.contains(char::is_control), "{value:?}");
        assert!(
            value.split(['/', '\\']).all(|segment| segment != ".."),
            "{value}"
        );
        let is_path = ["{+", "{#"]
            .iter()
            .any(|sign| template.starts_with(&format!("file://{sign}")));
        let rest = value.strip_prefix('/').filter(|_| is_path).unwrap_or(value);
        assert!(!rest.starts_with(['/', '\\']), "{value}");
        let drive = matches!(value.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
        assert!(!drive, "{value}");
    }
}

/// The URI of the values matches again. Values of a template with one variable are the same.
async fn check_round_trip(server: &Server, template: &str, values: &Map<String, Value>) {
    let uri = expand(template, values);
    let found = read(server, &uri).await;
    let is_reserved = template.contains("{+") || template.contains("{#");
    if values.len() == 1 && !is_reserved {
        assert_eq!(found.as_ref(), Some(values), "{uri}");
    }
}

fn expand(template: &str, values: &Map<String, Value>) -> String {
    let listed = treenail::schema::ResourceTemplate::new(template, "t");
    let expanded = UrlTemplate::from(listed).expand(values);
    expanded.expect("the server accepts fewer templates than the client")
}
