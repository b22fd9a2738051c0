//! The parameters of a message, cut out but not read.

use std::borrow::Cow;

use crate::wire::{Members, RpcError, Scanner, SyntaxError, as_string};

/// The members of `params` that the server looks at, as texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Params<'a> {
    /// The whole object.
    pub(crate) text: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<&'a str>,
    pub(crate) cursor: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) input_responses: Option<&'a str>,
    pub(crate) request_state: Option<&'a str>,
    /// A member that is given twice, which leaves open what is meant.
    repeated: Option<&'static str>,
}

impl<'a> Params<'a> {
    /// Goes through the object that comes next.
    pub(crate) fn scan(scanner: &mut Scanner<'a>) -> Result<Self, SyntaxError> {
        let mut params = Self::default();
        let mut first = true;
        let start = scanner.open_object()?;
        while let Some(key) = scanner.next_member(first)? {
            first = false;
            if key == "_meta" {
                if params.meta.replace(scanner.known_value()?).is_some() {
                    params.repeated = Some("_meta");
                }
                continue;
            }
            let value = scanner.value()?;
            let (name, member) = match &*key {
                "name" => ("name", &mut params.name),
                "arguments" => ("arguments", &mut params.arguments),
                "cursor" => ("cursor", &mut params.cursor),
                "requestId" => ("requestId", &mut params.request_id),
                "inputResponses" => ("inputResponses", &mut params.input_responses),
                "requestState" => ("requestState", &mut params.request_state),
                _ => continue,
            };
            if member.replace(value).is_some() {
                params.repeated = Some(name);
            }
        }
        params.text = Some(scanner.since(start));
        Ok(params)
    }

    /// Refuses parameters that leave open what is meant.
    pub(crate) fn check(&self) -> Result<(), RpcError> {
        self.repeated.map_or(Ok(()), |name| Err(twice(name)))
    }

    /// A member that only few methods have, looked for in the whole object.
    pub(crate) fn member(&self, name: &str) -> Result<Option<&'a str>, RpcError> {
        let mut found = None;
        let Some(Ok(mut members)) = self.text.map(Members::new) else {
            return Ok(None);
        };
        // The object has been checked already.
        while let Ok(Some((key, text))) = members.next() {
            if key == name && found.replace(text).is_some() {
                return Err(twice(name));
            }
        }
        Ok(found)
    }
}

#[cold]
fn twice(name: &str) -> RpcError {
    RpcError::invalid_params(format!("`params` has `{name}` twice"))
}

/// The string that the member `name` must be.
pub(crate) fn string<'a>(name: &str, text: Option<&'a str>) -> Result<Cow<'a, str>, RpcError> {
    let text =
        text.ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is missing")))?;
    as_string(text)
        .ok_or_else(|| RpcError::invalid_params(format!("`params.{name}` is not a string")))
}

/// The object that the member `name` must be, if it is there.
pub(crate) fn object<'a>(name: &str, text: Option<&'a str>) -> Result<Option<&'a str>, RpcError> {
    match text {
        Some(text) if !text.starts_with('{') => Err(RpcError::invalid_params(format!(
            "`params.{name}` is not an object"
        ))),
        other => Ok(other),
    }
}
