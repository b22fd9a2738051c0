//! Server with a tool, and a skill that describes its use. The skill is the folder `examples/skills/plan-trip`.

use treenail::prelude::*;
use treenail::skills::Skills;

/// Returns the travel time by train in hours.
#[mcp_tool(read_only)]
fn travel_time(from: String, to: String) -> Result<f64, ToolError> {
    match (&*from, &*to) {
        ("Oslo", "Stockholm") | ("Stockholm", "Oslo") => Ok(5.5),
        _ => Err(ToolError::new(format!(
            "there is no train from {from} to {to}"
        ))),
    }
}

fn server() -> treenail::Result<Server> {
    // Beside the sources. An installed program has `Skills::embedded`, or a folder from its arguments.
    let skills = Skills::folder(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/skills"))?;
    treenail::server!()
        .tools(tools![travel_time])
        .extension(skills)
        .build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    server()?.serve_stdio().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_skill_is_loaded_with_its_files() {
        let client = McpClient::builder().server(&server().unwrap());
        let client = client.build().await.unwrap();
        let skills = client.skills();
        let entry = skills.list().await.unwrap().remove(0);
        assert_eq!(entry.name(), "plan-trip");
        let skill = skills.load(&entry).await.unwrap();
        assert!(skill.instructions().contains("`travel_time`"));
        let documents = skill.read("references/documents.md").await.unwrap();
        assert!(documents.starts_with(b"# Documents\n"));
    }
}
