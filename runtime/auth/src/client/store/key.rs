//! Keys of stored entries.

use std::fmt;

/// Key of an entry. `Display` writes a stable text, different for each key, without secrets.
///
/// ```
/// use treenail::auth::StoreKey;
///
/// let key = StoreKey::tokens("https://example.com/mcp", "https://auth.example.com", "planner");
/// assert_eq!(key.to_string(), r#"["tokens","https://example.com/mcp","https://auth.example.com","planner"]"#);
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey {
    kind: &'static str,
    parts: Box<[Box<str>]>,
}

impl StoreKey {
    /// Returns the key of the tokens that one client has for one MCP server, by its URL, from one authorization server. Entry: the
    /// tokens.
    pub fn tokens(server: &str, issuer: &str, client_id: &str) -> Self {
        Self::new("tokens", &[server, issuer, client_id])
    }

    /// Returns the key of the registration at one authorization server. Entry: the client id and its secret.
    pub fn registration(issuer: &str) -> Self {
        Self::new("registration", &[issuer])
    }

    /// Returns the key of the binding of a client id to its first authorization server. Entry: the issuer.
    pub fn binding(client_id: &str) -> Self {
        Self::new("binding", &[client_id])
    }

    /// Returns the key of the `DPoP` key of one client at one authorization server. Entry: the private key.
    pub fn dpop_key(issuer: &str, client_id: &str) -> Self {
        Self::new("dpop-key", &[issuer, client_id])
    }

    /// Returns the key of the last authorization at one MCP server. Entry: its resource, issuer and client id.
    pub fn server(url: &str) -> Self {
        Self::new("server", &[url])
    }

    fn new(kind: &'static str, parts: &[&str]) -> Self {
        Self {
            kind,
            parts: parts.iter().map(|&part| part.into()).collect(),
        }
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // JSON escapes its separators, so different keys have different texts.
        write!(formatter, "[\"{}\"", self.kind)?;
        for part in &self.parts {
            let text = serde_json::Value::from(&**part);
            write!(formatter, ",{text}")?;
        }
        formatter.write_str("]")
    }
}
