//! Prompts, resources and completion: kinds of functions and outputs.

#![deny(warnings)]

use std::fmt::{Display, Error};

use treenail::completion::CompletionRequest;
use treenail::schema::{Annotations, PromptMessage, ResourceContents, TextResourceContents};
use treenail::server::Mount;
use treenail::{Context, RpcError, mcp_tool, mcp_type};

#[mcp_type]
struct Place {
    name: String,
}

/// An alias, which is not to be told from what it stands for.
type Fallible<T> = Result<T, Error>;

struct Map<P>(P);

trait Names {
    fn places(&self, _typed: &str) -> [&'static str; 1] {
        ["a"]
    }
}

impl<P> Names for Map<P> {}

struct Cities;

impl Cities {
    fn names(_: &str) -> [&'static str; 1] {
        ["a"]
    }
}

#[mcp_tool(namespace = "map")]
impl<P: Display + Send + Sync + 'static> Map<P> {
    #[prompt(title = "Visit")]
    async fn visit(&self, cx: &Context, #[arg(complete = Self::names)] name: String) -> String {
        let _ = cx.request_id();
        format!("{}{name}", self.0)
    }

    /// Beside `Names::places`, the completer below.
    #[expect(dead_code, reason = "only the function of the trait is called")]
    fn places(&self) -> usize {
        2
    }

    #[prompt]
    fn travel(
        #[arg(complete = <Cities>::names)] from: String,
        #[arg(complete = <Self as Names>::places)] to: String,
    ) -> String {
        from + &to
    }

    #[prompt(name = "both")]
    fn messages(#[arg(default, complete = numbers)] count: u8) -> Fallible<Vec<PromptMessage>> {
        Ok(vec![PromptMessage::user("hello"); usize::from(count)])
    }

    #[prompt(blocking)]
    fn refuse() -> Result<&'static str, RpcError> {
        Err(RpcError::new(-32602, "no"))
    }

    #[resource("map://name")]
    fn name(&self) -> String {
        self.0.to_string()
    }

    #[resource("map://bytes", size = 1, annotations = Annotations::new())]
    async fn bytes(&self) -> &'static [u8] {
        b"a"
    }

    #[resource("map://places/{id}{.kind}", mime_type = "application/json")]
    async fn place(
        #[arg(range = 1..=7, complete = later)] id: u64,
        kind: Option<String>,
    ) -> Fallible<Option<Place>> {
        Ok(kind.map(|kind| Place {
            name: format!("{id}{kind}"),
        }))
    }

    #[resource("map://{+path}")]
    fn contents(&self, cx: &Context, path: String) -> Vec<ResourceContents> {
        let _ = cx.meta();
        vec![TextResourceContents::new("map://a", path).into()]
    }

    #[resource("map://here", subscribable, size = 0)]
    #[cfg(test)]
    fn here() -> TextResourceContents {
        TextResourceContents::new("map://here", "")
    }

    #[resource("map://here")]
    #[cfg(any())]
    fn there() -> NoSuchType {}

    fn names(&self, typed: &CompletionRequest) -> Vec<String> {
        vec![format!("{}{}", self.0, typed.text())]
    }
}

fn numbers(_: &str) -> [&'static str; 2] {
    ["1", "2"]
}

async fn later(typed: &CompletionRequest) -> impl Iterator<Item = String> + use<> {
    let text = typed.text().to_owned();
    (1..3).map(move |number| format!("{text}{number}"))
}

pub(crate) fn main() {
    fn count<M: Mount>(_: &M) -> (usize, usize, usize) {
        (M::tools().len(), M::prompts().len(), M::resources().len())
    }
    assert_eq!(count(&Map(1)), (0, 4, 5));
}
