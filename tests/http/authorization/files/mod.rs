//! Functions that require scopes.

/// The same at run time.
pub(crate) mod twin;

use treenail::prelude::*;
use treenail::schema::{CacheScope, ReadResourceResult, TextResourceContents};
use treenail::scope::OneOf;

use super::{LEEWAY, LIFETIME, RESOURCE};
use crate::offer::Offer;

struct Files;

#[mcp_tool(namespace = "files", scope = "files:read")]
impl Files {
    /// Describes the caller.
    #[tool]
    fn read(cx: &Context) -> String {
        let (principal, grant) = (cx.principal().unwrap(), cx.grant().unwrap());
        assert!(grant.audience().contains(&RESOURCE.to_owned()));
        let (issuer, subject) = (grant.issuer(), grant.subject());
        format!("{principal}; {issuer}; {subject}; {}", grant.scopes())
    }

    /// Writes. `scope` is one that the call needs in addition.
    #[tool(scope = "files:write")]
    async fn write(
        &self,
        cx: &Context,
        scope: Option<String>,
        #[arg(default)] reports: bool,
        #[arg(default)] recovers: bool,
    ) -> Result<&'static str, ToolError> {
        if reports {
            cx.progress(1).await;
            tokio::task::yield_now().await;
        }
        match scope.map(|scope| cx.require_scope(scope)) {
            Some(Err(missing)) if !recovers => Err(missing.into()),
            _ => Ok("written"),
        }
    }

    /// Moves a file.
    #[tool(scope = ["files:write", "files:read"])]
    fn rename(cx: &Context) -> Result<&'static str, ToolError> {
        cx.require_scope("files:admin")?;
        Ok("renamed")
    }

    /// Needs one of two scopes.
    #[tool(scope = OneOf(["files:audit", "files:admin"]))]
    fn audit() -> &'static str {
        "audited"
    }

    /// Needs no scope.
    #[tool(scope = [])]
    fn about() -> &'static str {
        "files"
    }

    /// Returns everything that a function can see of its request.
    #[tool(scope = [])]
    fn request(cx: &Context) -> String {
        let parts = cx.extension::<http::request::Parts>().unwrap();
        format!(
            "{parts:?} {:?} {:?} {:?}",
            parts.extensions,
            cx.grant(),
            cx.meta()
        )
    }

    /// Asks the client.
    #[tool(scope = [])]
    async fn ask(&self, cx: &Context) -> Result<String, AskError> {
        cx.confirm("Sure?").await?;
        Ok(format!("sure, {}", cx.grant().unwrap().subject()))
    }

    /// Runs until the client has gone.
    #[tool(scope = [])]
    async fn wait(&self, cx: &Context) -> &'static str {
        cx.progress(1).await;
        tokio::time::sleep((LIFETIME + LEEWAY) * 2).await;
        "waited"
    }

    /// Reviews files.
    #[prompt(scope = "files:write files:read")]
    fn review(#[arg(complete = names)] name: String) -> String {
        format!("Review {name}.")
    }

    /// A file.
    #[resource("file:///{name}", subscribable)]
    async fn file(&self, name: String) -> String {
        name
    }

    /// A public file.
    #[resource("file:///public", scope = [], subscribable)]
    fn public() -> ReadResourceResult {
        let contents = TextResourceContents::new("file:///public", "public");
        let mut read = ReadResourceResult::new([contents.into()]);
        read.cache_scope = Some(CacheScope::Public);
        read
    }
}

fn names(_: &str) -> Vec<String> {
    vec!["notes".to_owned()]
}

pub(crate) fn add_files<O: Offer>(offer: O) -> O {
    offer.with_mounted(Files)
}
