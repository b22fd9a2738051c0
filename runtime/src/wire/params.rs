//! The parameters of a message, cut out but not read.

use std::borrow::Cow;

use crate::wire::{RpcError, Scanner, SyntaxError, as_string};

/// The members of `params` that the server looks at, as texts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Params<'a> {
    /// The whole object.
    pub(crate) text: Option<&'a str>,
    pub(crate) meta: Option<&'a str>,
    pub(crate) name: Option<&'a str>,
    pub(crate) arguments: Option<&'a str>,
    pub(crate) uri: Option<&'a str>,
    pub(crate) cursor: Option<&'a str>,
    pub(crate) request_id: Option<&'a str>,
    pub(crate) level: Option<&'a str>,
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
            let value = scanner.value()?;
            let (name, member) = match &*key {
                "_meta" => ("_meta", &mut params.meta),
                "name" => ("name", &mut params.name),
                "arguments" => ("arguments", &mut params.arguments),
                "uri" => ("uri", &mut params.uri),
                "cursor" => ("cursor", &mut params.cursor),
                "requestId" => ("requestId", &mut params.request_id),
                "level" => ("level", &mut params.level),
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
        match self.repeated {
            None => Ok(()),
            Some(name) => Err(RpcError::invalid_params(format!(
                "`params` has `{name}` twice"
            ))),
        }
    }
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
