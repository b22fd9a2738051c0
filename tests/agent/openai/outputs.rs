//! Outputs of runs with the model behind the endpoint.

use serde_json::json;
use treenail::ToolLoop;

use super::fake::{Endpoint, Reply};
use super::model;

#[tokio::test]
async fn an_output_is_submitted_as_a_required_call() {
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "submit_output", "{\"output\": [\"a\"")]),
        Reply::calls(&[("c2", "submit_output", "{\"output\": [\"a\"]}")]),
    ]);
    let model = model(&endpoint).build().unwrap();
    let agent = ToolLoop::new(model).output::<Vec<String>>();
    let report = agent.run("List them.").await.unwrap();
    assert_eq!(report.output_as::<Vec<String>>().unwrap(), ["a"]);

    let asked = endpoint.all_asked();
    let (first, second) = (asked[0].json(), asked[1].json());
    assert_eq!(first["tool_choice"], "required", "ALL-SAM-04");
    let function = &first["tools"][0]["function"];
    assert_eq!(function["name"], "submit_output");
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(
        function["parameters"]["properties"],
        json!({"output": list})
    );
    let error = second["messages"][2]["content"].as_str().unwrap();
    assert!(error.contains("not valid JSON"), "{error}");
}
