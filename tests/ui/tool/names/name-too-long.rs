use treenail::mcp_tool;

struct Map;

#[mcp_tool(namespace = "a_namespace_of_sixty_four_characters_takes_half_of_the_whole_name")]
impl Map {
    #[tool]
    fn with_a_dot_between_them_a_name_of_as_many_does_not_fit_in_any_more(&self) {}
}

fn main() {}
