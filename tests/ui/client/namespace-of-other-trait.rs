use treenail::mcp_client;

trait Alerts {}

#[mcp_client]
trait Weather {
    #[namespace]
    fn alerts(&self) -> &impl Alerts;
}

fn main() {}
