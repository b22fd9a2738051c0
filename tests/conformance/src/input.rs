//! Tools that are about their arguments.

use serde_json::{Value, json};
use treenail::prelude::*;

pub(crate) struct Input;

#[mcp_type]
struct Address {
    street: Option<String>,
    city: Option<String>,
}

#[mcp_type]
#[serde(rename_all = "lowercase")]
enum ContactMethod {
    Phone,
    Email,
}

#[mcp_tool]
impl Input {
    /// Has an argument that HTTP clients put into a header too.
    #[tool(read_only)]
    fn test_custom_header(#[arg(header = "Value")] value: String) -> String {
        format!("The header had {value}")
    }

    /// Has conditions between its arguments.
    #[tool(name = "json_schema_2020_12_tool", read_only, schema = contact())]
    fn json_schema(
        name: Option<String>,
        address: Option<Address>,
        #[arg(name = "contactMethod")] contact_method: Option<ContactMethod>,
        phone: Option<String>,
        email: Option<String>,
    ) -> Result<String, ToolError> {
        let name = name.unwrap_or_else(|| "Somebody".to_owned());
        let reached = match contact_method {
            Some(ContactMethod::Phone) => phone,
            Some(ContactMethod::Email) => email,
            None => phone.or(email),
        };
        let reached = reached.ok_or_else(|| ToolError::new("give `phone` or `email`"))?;
        let city = address.and_then(|address| address.city);
        let city = city.map(|city| format!(" in {city}")).unwrap_or_default();
        Ok(format!("{name}{city}: {reached}"))
    }
}

/// There is one way at least to reach somebody, and it is the one that is preferred.
fn contact() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
    })
}
