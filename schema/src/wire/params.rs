//! Parameters of a message, as JSON texts of the members that the server uses.

use std::borrow::Cow;

use crate::Method;

use crate::wire::DEEPEST;
use crate::wire::{Members, RpcError, Scanner, SyntaxError, as_string};

/// Members of `params` that the server uses, as JSON texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Params<'a> {
    /// The complete object.
    pub text: Option<&'a str>,
    /// The member `_meta`.
    pub meta: Option<&'a str>,
    /// The member `name`.
    pub name: Option<&'a str>,
    /// The member `arguments`.
    pub arguments: Option<&'a str>,
    /// The member `cursor`.
    pub cursor: Option<&'a str>,
    /// The member `requestId`.
    pub request_id: Option<&'a str>,
    /// The member `inputResponses`.
    pub input_responses: Option<&'a str>,
    /// The member `requestState`.
    pub request_state: Option<&'a str>,
    /// Name of a member that occurs twice, which makes the parameters ambiguous.
    repeated: Option<&'static str>,
}

impl<'a> Params<'a> {
    /// Scans the object at the position of `scanner`.
    pub fn scan(scanner: &mut Scanner<'a>) -> Result<Self, SyntaxError> {
        let mut params = Self::default();
        params.fill(scanner)?;
        Ok(params)
    }

    /// Scans into empty parameters, which need not be moved then.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> Result<(), SyntaxError> {
        let mut first = true;
        let start = scanner.open_object()?;
        while let Some(key) = scanner.next_member(first)? {
            first = false;
            if key == "_meta" {
                if self.meta.replace(scanner.known_value()?).is_some() {
                    self.repeated = Some("_meta");
                }
                continue;
            }
            let value = scanner.value()?;
            let (name, member) = match &*key {
                "name" => ("name", &mut self.name),
                "arguments" => ("arguments", &mut self.arguments),
                "cursor" => ("cursor", &mut self.cursor),
                "requestId" => ("requestId", &mut self.request_id),
                "inputResponses" => ("inputResponses", &mut self.input_responses),
                "requestState" => ("requestState", &mut self.request_state),
                _ => continue,
            };
            if member.replace(value).is_some() {
                self.repeated = Some(name);
            }
        }
        self.text = Some(scanner.since(start));
        Ok(())
    }

    /// Scans the text of an object that was checked when its message was parsed.
    pub fn of_checked(text: &'a str) -> Result<Self, RpcError> {
        Self::scan(&mut Scanner::new(text, DEEPEST)).map_err(RpcError::parse)
    }

    /// Returns the name or URI that the parameters of `method` have, for a target that may not exist.
    pub fn target(&self, method: Method) -> Cow<'a, str> {
        let text = match method {
            Method::CallTool | Method::GetPrompt => self.name,
            Method::ReadResource => self.member("uri").ok().flatten(),
            _ => None,
        };
        text.and_then(as_string).unwrap_or_default()
    }

    /// Returns parameters whose members are found by [`Params::member`] only.
    pub fn of_text(text: Option<&'a str>) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Rejects ambiguous parameters.
    #[inline]
    pub fn check(&self) -> Result<(), RpcError> {
        self.repeated
            .map_or(Ok(()), |name| Err(repeated_member(name)))
    }

    /// Searches the complete object for a member that only few methods have.
    pub fn member(&self, name: &str) -> Result<Option<&'a str>, RpcError> {
        let mut found = None;
        let Some(Ok(mut members)) = self.text.map(Members::new) else {
            return Ok(None);
        };
        // The JSON of the object has been checked.
        while let Ok(Some((key, text))) = members.next() {
            if key == name && found.replace(text).is_some() {
                return Err(repeated_member(name));
            }
        }
        Ok(found)
    }
}

#[cold]
fn repeated_member(name: &str) -> RpcError {
    RpcError::invalid_params(format!("`params` has `{name}` twice"))
}

/// Returns the value of the required string member `name`.
pub fn string<'a>(name: &str, text: Option<&'a str>) -> Result<Cow<'a, str>, RpcError> {
    let text =
        text.ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is missing")))?;
    as_string(text)
        .ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is not a string")))
}

/// Returns the JSON text of the optional object member `name`.
#[inline]
pub fn object<'a>(name: &str, text: Option<&'a str>) -> Result<Option<&'a str>, RpcError> {
    match text {
        Some(text) if !text.starts_with('{') => Err(not_an_object(name)),
        other => Ok(other),
    }
}

#[cold]
fn not_an_object(name: &str) -> RpcError {
    RpcError::invalid_params(format!("`params.{name}` is not an object"))
}
