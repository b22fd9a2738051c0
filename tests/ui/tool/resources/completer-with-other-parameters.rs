use treenail::mcp_tool;

struct Weather;

#[mcp_tool]
impl Weather {
    #[prompt]
    fn advice(&self, #[arg(complete = Self::cities)] city: String) -> String {
        city
    }

    fn cities(&self) -> Vec<String> {
        Vec::new()
    }
}

fn main() {}
