//! URI templates and their expansion (RFC 6570).

use serde::Serialize;
use serde_json::{Map, Value};
use treenail_schema::ResourceTemplate;
use treenail_schema::internal::expand_uri_template;

use crate::client::ClientError;
use crate::client::cache::McpClient;

impl McpClient {
    /// Returns all URI templates, in the order of the server.
    #[doc(alias = "resource_templates")]
    pub async fn url_templates(&self) -> Result<Vec<UrlTemplate>, ClientError> {
        let Some(source) = self.templates_source() else {
            return Ok(Vec::new());
        };
        let list = self.inner.lists.templates.get(source).await?;
        let templates = list.items.iter().map(|listed| UrlTemplate::new(listed));
        Ok(templates.collect())
    }

    /// Returns the first URI template with this name, if there is one.
    #[doc(alias = "resource_template")]
    pub async fn url_template(&self, name: &str) -> Result<Option<UrlTemplate>, ClientError> {
        let Some(source) = self.templates_source() else {
            return Ok(None);
        };
        let list = self.inner.lists.templates.get(source).await?;
        // Listed by URI template, because several may have the same name.
        let mut items = list.items.iter();
        let found = items.find(|listed| listed.name == name);
        Ok(found.map(|listed| UrlTemplate::new(listed)))
    }
}

/// URI template for resources, as listed by the server.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlTemplate(ResourceTemplate);

impl UrlTemplate {
    pub(super) fn new(listed: &ResourceTemplate) -> Self {
        Self(listed.clone())
    }

    /// Returns the template's description from the server.
    pub fn listed(&self) -> &ResourceTemplate {
        &self.0
    }

    /// Expands the template with values, as defined by RFC 6570. The values serialize to an object of strings, numbers,
    /// booleans, and lists and objects of these. Variables without a value are omitted, as the RFC requires.
    ///
    /// ```
    /// use serde_json::json;
    /// # use treenail::client::McpClient;
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
    /// [`ClientError::Invalid`] if the values are not such an object, [`ClientError::Protocol`] if the server's
    /// template is malformed, or if the URI would be longer than 1 MiB.
    pub fn expand(&self, values: impl Serialize) -> Result<String, ClientError> {
        let values = match serde_json::to_value(values) {
            Ok(Value::Object(values)) => values,
            Ok(Value::Null) => Map::new(),
            Ok(_) => {
                let message = "the values of a URI template must be an object";
                return Err(ClientError::invalid(message));
            }
            Err(error) => {
                let message =
                    format!("the values of the URI template cannot be serialized: {error}");
                return Err(ClientError::invalid(message));
            }
        };
        expand_uri_template(&self.0.uri_template, &values).map_err(ClientError::protocol)
    }
}

impl From<ResourceTemplate> for UrlTemplate {
    /// Uses a template that is known without a request to the server.
    fn from(template: ResourceTemplate) -> Self {
        Self(template)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn malformed_templates_and_values_are_errors() {
        let template = |uri| UrlTemplate(ResourceTemplate::new(uri, "t"));
        let error = template("a://{city").expand(json!({"city": 1}));
        assert!(matches!(error, Err(ClientError::Protocol(_))));
        let error = template("a://{city}").expand(json!([1]));
        assert!(matches!(error, Err(ClientError::Invalid(_))));
    }
}
