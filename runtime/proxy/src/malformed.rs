//! Items of lists that cannot be read. A server is not trusted, so one of them must not hide the others.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use treenail_runtime::client::ClientLimits;
use treenail_runtime::internal::is_heavier;
use treenail_schema::internal::shortened;
use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::omissions::Omissions;
use crate::rewrite::JsonMembers;

/// Returns true if the result of a request is a list.
pub(crate) fn is_list(method: &str) -> bool {
    method.ends_with("/list")
}

/// Omits the items of the list in the result of a request that cannot be read. A list without any is not copied, and one that is too large
/// to be decoded is not read.
pub(crate) fn without_malformed(method: &str, text: String, omissions: &Omissions<'_>) -> String {
    if is_heavier(&text, ClientLimits::default().decoded_bytes) {
        return text;
    }
    let readable = match method {
        "tools/list" => readable::<Tool>(&text, ("tools", "tool"), omissions),
        "prompts/list" => readable::<Prompt>(&text, ("prompts", "prompt"), omissions),
        "resources/list" => readable::<Resource>(&text, ("resources", "resource"), omissions),
        "resources/templates/list" => {
            let names = ("resourceTemplates", "template");
            readable::<ResourceTemplate>(&text, names, omissions)
        }
        _ => None,
    };
    readable.unwrap_or(text)
}

/// Returns the result without the items of the list `member` that cannot be read; `None` if there are none.
fn readable<T: DeserializeOwned>(
    text: &str,
    (member, kind): (&str, &str),
    omissions: &Omissions<'_>,
) -> Option<String> {
    let mut members: JsonMembers<'_> = serde_json::from_str(text).ok()?;
    let mut items: Vec<&RawValue> = serde_json::from_str(members.get(member)?.get()).ok()?;
    let listed = items.len();
    items.retain(|item| {
        let read = serde_json::from_str::<T>(item.get());
        let omit = |error: &serde_json::Error| {
            let problem = format!("it cannot be read: {}", shortened(&error.to_string()));
            omissions.one(kind, &name_of(item), &problem);
        };
        read.inspect_err(omit).is_ok()
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
    use treenail_runtime::internal::LogThrottle;

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
            let throttle = LogThrottle::default();
            let omissions = Omissions::new("s", &throttle);
            let read = |items: &str| {
                let text = format!(r#"{{"{member}":[{items}],"nextCursor":"c"}}"#);
                let readable = without_malformed(method, text.clone(), &omissions);
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
        let throttle = LogThrottle::default();
        let omissions = Omissions::new("s", &throttle);
        for text in ["{}", r#"{"tools":{}}"#, "5"] {
            let read = without_malformed("tools/list", text.to_owned(), &omissions);
            assert_eq!(read, text);
        }
    }
}
