//! The keys of `task(…)`, alone and combined.

use treenail::prelude::*;

struct Builds;

/// Builds of a project.
#[mcp_tool(namespace = "builds")]
impl Builds {
    /// Builds.
    #[tool(task)]
    async fn build(&self) {}

    /// Builds again.
    #[tool(task(always, resume, keep = "1d", run_time = "2h"), timeout = std::time::Duration::from_secs(9))]
    async fn rebuild(&self) {}

    /// Tests.
    #[tool(task(required, after = "500ms"), blocking)]
    fn test(&self) {}

    /// Deploys.
    #[tool(task(external, keep = "30m"), read_only)]
    fn deploy(&self) {}

    /// Prints the log.
    #[tool(task(after = "2s",))]
    fn log(&self) -> impl Stream<Item = String> + use<> {
        tokio_stream::iter(["built".to_owned()])
    }
}

/// Publishes.
#[mcp_tool(task())]
async fn publish() {}

#[mcp_client]
trait Reports {
    /// Writes a report.
    #[tool(task(always))]
    async fn write(&self) -> Result<String, ToolError>;
}

pub(crate) fn main() {
    let server = treenail::server!().mount(Builds).tools(tools![publish]);
    drop(server);
}
