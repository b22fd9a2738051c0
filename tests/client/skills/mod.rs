//! Skills of other servers: lists, and loading with verification.

mod lists;
mod loading;
mod violations;

use std::sync::{Arc, Mutex};

use treenail::Limits;
use treenail::dynamic::{RawResult, ResourceTemplate};
use treenail::extension::{Extension, ExtensionMethod};
use treenail::prelude::*;
use treenail::schema::Revision;

const ID: &str = "io.modelcontextprotocol/skills";
const URI: &str = "skill://a/SKILL.md";
const FORMS: &str = "skill://a/references/FORMS.md";
const TEXT: &str = "---\nname: a\ndescription: A.\nversion: 1.0\n---\nRead FORMS.\n";

// Of `sha256sum`.
const DIGEST: &str = "sha256:dbe0e4295339199125c8f6ed97ab757750b9f3719d4e19c1f67d439b5d4077e7";
const FORMS_DIGEST: &str =
    "sha256:8bec8757f662f0f3cab90d3c7cfbf69ce66e4e120b0f8fb911aa1022798b3edf";

/// Server whose entry and files need not fit. It records the URIs of reads.
#[derive(Clone)]
struct Fake {
    entry: Value,
    /// The results of reads: all URIs have the same contents, but `uri`.
    contents: Value,
    reads: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// A server whose skill is right.
    fn new() -> Self {
        let files = json!([
            {"uri": URI, "digest": DIGEST, "size": TEXT.len()},
            {"uri": FORMS, "digest": FORMS_DIGEST, "size": 5},
        ]);
        let frontmatter = json!({"name": "a", "description": "A.", "version": 1});
        Self {
            entry: json!({"uri": URI, "frontmatter": frontmatter, "resources": files}),
            contents: json!({
                URI: [{"uri": URI, "text": TEXT}],
                FORMS: [{"uri": FORMS, "blob": "Zm9ybXM="}],
            }),
            reads: Arc::default(),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn reads(&self) -> Vec<String> {
        self.reads.lock().unwrap().clone()
    }

    async fn client(&self, revision: Revision) -> McpClient {
        let (list, get, read) = (self.clone(), self.clone(), self.clone());
        let list = ExtensionMethod::new("skills/list", move |_: Context, _: Value| {
            let result = json!({"skills": [list.entry.clone()]});
            async move { Ok::<_, RpcError>(result) }
        });
        let get = ExtensionMethod::new("skills/get", move |_: Context, _: Value| {
            let result = json!({"skill": get.entry.clone()});
            async move { Ok::<_, RpcError>(result) }
        });
        let extension = Extension::new(ID)
            .add_method(list.ungated())
            .add_method(get.ungated());
        let files = ResourceTemplate::new("skill://{+path}", "files").raw(move |_, request| {
            read.reads.lock().unwrap().push(request.uri().to_owned());
            let contents = match read.contents.get(request.uri()) {
                Some(contents) => contents.clone(),
                None => json!([{"uri": request.uri(), "text": "more"}]),
            };
            let result = RawResult::new(&json!({"contents": contents})).unwrap();
            async move { Ok(result) }
        });
        let server = treenail::server!()
            .add(files)
            .extension(extension)
            .limits(Limits::default().raw_result_bytes(8 << 20))
            .build()
            .unwrap();
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision);
        client.build().await.unwrap()
    }
}
