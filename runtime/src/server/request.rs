//! The parameters of a request, cut out but not read.

use crate::wire::{Members, RpcError, as_string, quoted};

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
}

impl<'a> Params<'a> {
    pub(crate) fn read(text: Option<&'a str>) -> Result<Self, RpcError> {
        let mut params = Self {
            text,
            ..Self::default()
        };
        let Some(text) = text else { return Ok(params) };
        let not_an_object = |_| RpcError::invalid_params("`params` is not an object");
        let mut members = Members::new(text).map_err(not_an_object)?;
        while let Some((key, value)) = members.next().map_err(not_an_object)? {
            let member = match &*key {
                "_meta" => &mut params.meta,
                "name" => &mut params.name,
                "arguments" => &mut params.arguments,
                "cursor" => &mut params.cursor,
                "requestId" => &mut params.request_id,
                _ => continue,
            };
            if member.replace(value).is_some() {
                return Err(RpcError::invalid_params(format!(
                    "`params` has {} twice",
                    quoted(&key)
                )));
            }
        }
        Ok(params)
    }
}

/// The string that a member must be.
pub(crate) fn string<'a>(
    member: &str,
    text: Option<&'a str>,
) -> Result<std::borrow::Cow<'a, str>, RpcError> {
    let text =
        text.ok_or_else(|| RpcError::invalid_params(format!("`params.{member}` is missing")))?;
    as_string(text)
        .ok_or_else(|| RpcError::invalid_params(format!("`params.{member}` is not a string")))
}

/// The object that a member must be, if it is there.
pub(crate) fn object<'a>(member: &str, text: Option<&'a str>) -> Result<Option<&'a str>, RpcError> {
    match text {
        Some(text) if !text.starts_with('{') => Err(RpcError::invalid_params(format!(
            "`params.{member}` is not an object"
        ))),
        other => Ok(other),
    }
}
