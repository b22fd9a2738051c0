use treenail::mcp_tool;

struct Weather<S, const N: usize>([S; N]);

#[mcp_tool]
impl<S: Send + Sync + 'static, const N: usize> Weather<S, N> {
    #[tool]
    fn count(&self) -> Option<impl Into<u64>> {
        u32::try_from(self.0.len()).ok()
    }
}

fn main() {}
