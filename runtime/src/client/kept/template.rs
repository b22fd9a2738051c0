//! Templates for URIs, and how they become URIs.

use std::ops::ControlFlow;

use iri_string::spec::IriSpec;
use iri_string::template::context::{Context, VarName, Visitor};
use iri_string::template::{Error as TemplateError, UriTemplateStr};
use serde::Serialize;
use serde_json::{Map, Value};
use treenail_schema::ResourceTemplate;

use crate::client::ClientError;

/// A template for the URIs of resources, as the server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlTemplate(ResourceTemplate);

impl UrlTemplate {
    pub(super) fn new(listed: &ResourceTemplate) -> Self {
        Self(listed.clone())
    }

    /// What the server says of it.
    pub fn listed(&self) -> &ResourceTemplate {
        &self.0
    }

    /// The URI for these values, by RFC 6570: what serializes to an object of texts, numbers, truth values, lists and
    /// objects of these. Variables without a value are left out, as the RFC has it.
    ///
    /// ```
    /// use serde_json::json;
    /// # use treenail_runtime::client::McpClient;
    /// # async fn example(client: McpClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let template = client.url_template("city").await?.ok_or("no such template")?;
    /// // "weather://{city}/{day}"
    /// let uri = template.expand(json!({"city": "São Paulo", "day": 3}))?;
    /// let weather = client.read_resource(&uri).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ClientError::Invalid`] if the values are no such object, [`ClientError::Protocol`] if the server's template is none.
    pub fn expand(&self, values: impl Serialize) -> Result<String, ClientError> {
        expand(&self.0.uri_template, values)
    }
}

fn expand(template: &str, values: impl Serialize) -> Result<String, ClientError> {
    let values = serde_json::to_value(values)
        .map_err(|error| ClientError::invalid(format!("the values of a template: {error}")))?;
    let values = match values {
        Value::Object(values) => Values(values),
        Value::Null => Values(Map::new()),
        _ => {
            return Err(ClientError::invalid(
                "the values of a template are an object, by name",
            ));
        }
    };
    let wrong = |error: TemplateError| {
        let template = crate::wire::quoted(template);
        ClientError::protocol(format!("{template} is no template for URIs: {error}"))
    };
    let parsed = UriTemplateStr::new(template).map_err(wrong)?;
    // Expanded as an IRI, in which other letters than those of ASCII stand for themselves, and encoded then.
    let expanded = parsed.expand::<IriSpec, _>(&values).map_err(wrong)?;
    Ok(encode(&expanded.to_string()))
}

/// Encodes all that is not ASCII, byte by byte.
fn encode(iri: &str) -> String {
    const NOTHING_OF_ASCII: &percent_encoding::AsciiSet = &percent_encoding::AsciiSet::EMPTY;

    percent_encoding::utf8_percent_encode(iri, NOTHING_OF_ASCII).to_string()
}

struct Values(Map<String, Value>);

impl Context for Values {
    fn visit<V: Visitor>(&self, visitor: V) -> V::Result {
        use iri_string::template::context::{AssocVisitor, ListVisitor};

        let name: VarName<'_> = visitor.var_name();
        match self.0.get(name.as_str()) {
            None | Some(Value::Null) => visitor.visit_undefined(),
            Some(Value::Array(items)) => {
                let mut list = visitor.visit_list();
                for item in items {
                    if let ControlFlow::Break(result) = list.visit_item(&plain(item)) {
                        return result;
                    }
                }
                list.finish()
            }
            Some(Value::Object(members)) => {
                let mut entries = visitor.visit_assoc();
                for (key, value) in members {
                    if let ControlFlow::Break(result) = entries.visit_entry(key, &plain(value)) {
                        return result;
                    }
                }
                entries.finish()
            }
            Some(value) => visitor.visit_string(plain(value)),
        }
    }
}

/// A value as the text that stands for it in a URI.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_become_uris() {
        let values = json!({
            "city": "São Paulo", "path": "a/ö b", "day": 3, "wet": true, "none": null,
            "list": ["x", "y z"], "keys": {"k": "v&", "l": 2},
        });
        let cases = [
            ("w://{city}/{day}", "w://S%C3%A3o%20Paulo/3"),
            ("f:///{+path}", "f:///a/%C3%B6%20b"),
            ("w://a{#path}", "w://a#a/%C3%B6%20b"),
            ("w://a{?day,wet,none,other}", "w://a?day=3&wet=true"),
            ("w://a{/list*}", "w://a/x/y%20z"),
            ("w://a/{list}", "w://a/x,y%20z"),
            ("w://a{?keys*}", "w://a?k=v%26&l=2"),
            ("w://a/{city:3}", "w://a/S%C3%A3o"),
            ("w://a/{none}{other}", "w://a/"),
        ];
        for (template, uri) in cases {
            assert_eq!(expand(template, &values).unwrap(), uri, "{template}");
        }
    }

    #[test]
    fn what_cannot_be_expanded_is_an_error() {
        assert!(matches!(
            expand("a://{city", json!({})),
            Err(ClientError::Protocol(_))
        ));
        assert!(matches!(
            expand("a://{city}", json!([1])),
            Err(ClientError::Invalid(_))
        ));
    }

    #[test]
    fn no_value_makes_it_panic() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..20_000 {
            let text = |random: &mut fastrand::Rng| -> String {
                (0..random.usize(..12)).map(|_| random.char(..)).collect()
            };
            let value = text(&mut random);
            let other = text(&mut random);
            for template in [
                "{a}", "{+a}", "{#a}", "{/a*}", "{?a,b}", "{&b}", "{;a:3}", &other,
            ] {
                // Whether it is an error is up to the template.
                drop(expand(template, json!({"a": value, "b": [value, other]})));
            }
        }
    }
}
