//! Tools with special arguments.

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
    /// Has an argument that HTTP clients also send as a header.
    #[tool(read_only)]
    fn test_custom_header(#[arg(header = "Value")] value: String) -> String {
        format!("The header had {value}")
    }

    /// Has conditions between its arguments.
    #[tool(name = "json_schema_2020_12_tool", read_only, schema = contact_schema())]
    fn json_schema(
        name: Option<String>,
        address: Option<Address>,
        #[arg(name = "contactMethod")] contact_method: Option<ContactMethod>,
        phone: Option<String>,
        email: Option<String>,
    ) -> Result<String, ToolError> {
        let name = name.unwrap_or_else(|| "Unknown".to_owned());
        let contact = match contact_method {
            Some(ContactMethod::Phone) => phone,
            Some(ContactMethod::Email) => email,
            None => phone.or(email),
        };
        let contact = contact.ok_or_else(|| ToolError::new("give `phone` or `email`"))?;
        let city = address.and_then(|address| address.city);
        let city = city.map(|city| format!(" in {city}")).unwrap_or_default();
        Ok(format!("{name}{city}: {contact}"))
    }
}

/// Returns a schema that requires at least one contact method, and the preferred one if it is given.
fn contact_schema() -> Value {
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
