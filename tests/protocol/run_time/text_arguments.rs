//! Types of arguments that are transmitted as strings.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use treenail::dynamic::Prompt;
use treenail::prelude::*;
use treenail::schema::PromptArgument;

use crate::support::peer::{MODERN, Peer};

/// A shape with data.
#[mcp_type]
#[derive(Debug)]
enum Shape {
    Circle(u8),
}

#[mcp_type]
#[derive(Debug)]
struct Drawing<N> {
    note: N,
    shape: Shape,
}

#[mcp_type]
#[derive(Debug)]
struct Copies {
    note: String,
    count: u8,
}

#[mcp_type]
#[derive(Debug)]
struct Framed {
    note: String,
    #[serde(flatten)]
    content: Content,
}

#[mcp_type]
#[derive(Debug)]
struct Content {
    shape: Shape,
}

/// Returns the arguments as a prompt parses them, or the message of the error.
async fn parse<T: DeserializeOwned + Debug>(arguments: Value) -> String {
    let names = arguments.as_object().unwrap().keys();
    let prompt = names.fold(Prompt::new("p"), |prompt, name| {
        prompt.argument(PromptArgument::new(name))
    });
    let prompt = prompt.handler(|_, arguments| async move {
        match arguments.parse::<T>() {
            Ok(read) => format!("{read:?}"),
            Err(error) => error.to_string(),
        }
    });
    let server = treenail::server!().add(prompt).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let result = peer.prompt("p", arguments).await;
    let text = result["messages"][0]["content"]["text"].as_str();
    text.unwrap().to_owned()
}

#[tokio::test]
async fn a_string_beside_json_is_the_text_itself() {
    for note in ["x", "[draft] x", "[1]", "{}"] {
        let arguments = json!({"note": note, "shape": r#"{"Circle":1}"#});
        let found = parse::<Drawing<String>>(arguments.clone()).await;
        let expected = format!("Drawing {{ note: {note:?}, shape: Circle(1) }}");
        assert_eq!(found, expected);
        let found = parse::<Drawing<Value>>(arguments.clone()).await;
        let expected = format!("Drawing {{ note: String({note:?}), shape: Circle(1) }}");
        assert_eq!(found, expected);
        let found = parse::<Framed>(arguments).await;
        let expected =
            format!("Framed {{ note: {note:?}, content: Content {{ shape: Circle(1) }} }}");
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn the_error_names_the_argument_that_does_not_fit() {
    let heading = "the arguments could not be read:\n- ";
    for note in ["x", "[draft] x", "[1]", "{}"] {
        let found = parse::<Copies>(json!({"note": note, "count": "many"})).await;
        let reason = "/count: invalid type: string \"many\", expected u8";
        assert_eq!(found, format!("{heading}{reason}"));
        let found = parse::<Copies>(json!({ "note": note })).await;
        assert_eq!(
            found,
            format!("{heading}the arguments: missing field `count`")
        );
        let arguments = json!({"note": note, "shape": r#"{"Circle":"x"}"#});
        let reason = "invalid type: string \"x\", expected u8";
        let found = parse::<Drawing<Value>>(arguments.clone()).await;
        assert_eq!(found, format!("{heading}/shape: {reason}"));
        let found = parse::<Framed>(arguments).await;
        assert_eq!(found, format!("{heading}the arguments: {reason}"));
    }
}
