//! Items of lists that cannot be read. A server is not trusted, so one of them must not hide the others.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use treenail_runtime::internal::is_heavier;
use treenail_schema::internal::shortened;
use treenail_schema::internal::wire::read_json;
use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::omissions::Omissions;
use crate::rewrite::JsonMembers;

/// Maximum number of items that wait for their report.
const MAX_ITEMS: usize = 100;

/// Items that cannot be read, until a refresh of the lists reports them: it fetches several lists and pages.
#[derive(Debug, Default)]
pub(crate) struct Malformed(Mutex<BTreeSet<Item>>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    kind: &'static str,
    name: String,
    problem: String,
}

impl Malformed {
    /// Notes one item. More than a maximum are not remembered.
    fn note(&self, kind: &'static str, item: &RawValue, error: &serde_json::Error) {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() < MAX_ITEMS {
            items.insert(Item {
                kind,
                name: shortened(&name_of(item)),
                problem: format!("it cannot be read: {}", shortened(&error.to_string())),
            });
        }
    }

    /// Reports the items, and forgets them.
    pub(crate) fn report(&self, omissions: &Omissions<'_>) {
        let items = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for item in items {
            omissions.one(item.kind, &item.name, &item.problem);
        }
    }
}

/// Returns true if the result of a request is a list.
pub(crate) fn is_list(method: &str) -> bool {
    method.ends_with("/list")
}

/// Omits the items of the list in the result of a request that cannot be read, and adds them to `malformed`. A list without any is not
/// copied, and one that needs more than `max_bytes` of memory is not read.
pub(crate) fn without_malformed(
    method: &str,
    text: String,
    max_bytes: usize,
    malformed: &Malformed,
) -> String {
    if is_heavier(&text, max_bytes) {
        return text;
    }
    let readable = match method {
        "tools/list" => readable::<Tool>(&text, ("tools", "tool"), malformed),
        "prompts/list" => readable::<Prompt>(&text, ("prompts", "prompt"), malformed),
        "resources/list" => readable::<Resource>(&text, ("resources", "resource"), malformed),
        "resources/templates/list" => {
            let names = ("resourceTemplates", "template");
            readable::<ResourceTemplate>(&text, names, malformed)
        }
        _ => None,
    };
    readable.unwrap_or(text)
}

/// Returns the result without the items of the list `member` that cannot be read; `None` if there are none.
fn readable<T: DeserializeOwned>(
    text: &str,
    (member, kind): (&str, &'static str),
    malformed: &Malformed,
) -> Option<String> {
    let mut members: JsonMembers<'_> = serde_json::from_str(text).ok()?;
    let mut items: Vec<&RawValue> = serde_json::from_str(members.get(member)?.get()).ok()?;
    let listed = items.len();
    items.retain(|item| {
        let read = read_json::<T>(item.get());
        read.inspect_err(|error| malformed.note(kind, item, error))
            .is_ok()
    });
    if items.len() == listed {
        return None;
    }
    let items = to_raw_value(&items).ok()?;
    members.insert(member.to_owned(), &items);
    serde_json::to_string(&members).ok()
}

/// Returns the name of an item, empty if it has none.
fn name_of(item: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }

    let named = serde_json::from_str::<Named<'_>>(item.get());
    named.map(|named| named.name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_items_that_cannot_be_read_are_omitted() {
        let tool = r#"{"name":"a","inputSchema":{"type":"object","x":1.0}}"#;
        let prompt = r#"{"name":"a"}"#;
        let resource = r#"{"name":"a","uri":"a:b"}"#;
        let template = r#"{"name":"a","uriTemplate":"a:{b}"}"#;
        for (method, member, item) in [
            ("tools/list", "tools", tool),
            ("prompts/list", "prompts", prompt),
            ("resources/list", "resources", resource),
            ("resources/templates/list", "resourceTemplates", template),
        ] {
            let malformed = Malformed::default();
            let read = |items: &str| {
                let text = format!(r#"{{"{member}":[{items}],"nextCursor":"c"}}"#);
                let readable = without_malformed(method, text.clone(), usize::MAX, &malformed);
                (readable, text)
            };
            for bad in ["5", "{}", r#"{"name":"a","icons":[{"src":5}]}"#] {
                let (readable, _) = read(&format!("{item},{bad},{item}"));
                let expected = format!(r#"{{"{member}":[{item},{item}],"nextCursor":"c"}}"#);
                let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
                let readable: serde_json::Value = serde_json::from_str(&readable).unwrap();
                assert_eq!(readable, expected, "{method}");
            }
            let (readable, text) = read(&format!(" {item}"));
            assert_eq!(readable, text);
        }
        let malformed = Malformed::default();
        for text in ["{}", r#"{"tools":{}}"#, "5"] {
            let read = without_malformed("tools/list", text.to_owned(), usize::MAX, &malformed);
            assert_eq!(read, text);
        }
        let heavy = r#"{"tools":[5]}"#;
        let read = without_malformed("tools/list", heavy.to_owned(), 1, &malformed);
        assert_eq!(read, heavy);
    }
}
