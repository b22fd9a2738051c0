//! Functions that require scopes, made at run time.

use treenail::Server;
use treenail::scope::OneOf;

use super::{Files, names};
use crate::made::{Made, get};
use crate::offer::Offer;

pub(crate) fn add_files<O: Offer>(offer: O) -> O {
    let server = super::add_files(Server::builder("files", "1.0.0"));
    let made = Made::of(&server.build().unwrap());
    let tool = |name: &str| made.tool(&format!("files.{name}"));
    offer.with_features(vec![
        tool("read")
            .scope("files:read")
            .handler(|cx, _| async move { Files::read(&cx) }),
        tool("write")
            .scope("files:write")
            .handler(|cx, it| async move {
                let is = |name| get::<Option<bool>>(&it, name).unwrap_or_default();
                let (reports, recovers) = (is("reports"), is("recovers"));
                Files.write(&cx, get(&it, "scope"), reports, recovers).await
            }),
        tool("rename")
            .scope(["files:write", "files:read"])
            .handler(|cx, _| async move { Files::rename(&cx) }),
        tool("audit")
            .scope(OneOf(["files:audit", "files:admin"]))
            .handler(|_, _| async { Files::audit() }),
        tool("about").handler(|_, _| async { Files::about() }),
        tool("request").handler(|cx, _| async move { Files::request(&cx) }),
        tool("ask").handler(|cx, _| async move { Files.ask(&cx).await }),
        tool("wait").handler(|cx, _| async move { Files.wait(&cx).await }),
        made.prompt("files.review")
            .scope("files:write files:read")
            .complete("name", |typed| names(typed.text()))
            .handler(|_, it| async move { Files::review(it.get("name").unwrap()) }),
        made.template("file:///{name}")
            .scope("files:read")
            .subscribable(true)
            .handler(|_, it| async move { Files.file(it.variable("name").unwrap()).await }),
        made.resource("file:///public")
            .subscribable(true)
            .handler(|_, _| async { Files::public() }),
    ])
}
