//! Authorization response: its checks, in their order.

use std::borrow::Cow;

use super::request::{FlowRecord, is_equal};
use crate::client::token::error::refusal;
use crate::client::urls::MAX;
use crate::{AuthError, Secret};

const DOCUMENT: &str = "authorization response";

/// Parameters of a query, in their order.
pub(super) struct Parameters<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Parameters<'a> {
    pub(super) fn read(query: &'a str) -> Self {
        Self(form_urlencoded::parse(query.as_bytes()).take(64).collect())
    }

    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| &**value)
    }

    /// Returns the only value of a parameter.
    fn single(&self, name: &str) -> Result<Option<&str>, AuthError> {
        let mut values = self.values(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(refuse(format!("it contains `{name}` twice")));
        }
        Ok(first)
    }
}

/// Returns the query of a redirect that has scheme, authority and path of the redirect URI.
pub(super) fn same_place<'a>(redirect: &'a str, redirect_uri: &str) -> Option<&'a str> {
    if redirect.len() > MAX {
        return None;
    }
    let redirect = redirect.split('#').next().unwrap_or_default();
    let (ours, fixed) = redirect_uri.split_once('?').unwrap_or((redirect_uri, ""));
    let (place, query) = redirect.split_once('?')?;
    (place == ours && query.starts_with(fixed)).then_some(query)
}

/// Checks the redirect of a flow and returns its code. Nothing after a failed check is used or shown.
///
/// # Errors
///
/// - [`AuthError::Document`] if the response belongs to another flow or another authorization server.
/// - [`AuthError::Refused`] if the authorization server or the user refused.
pub(super) fn read_code(redirect: &str, record: &FlowRecord) -> Result<Secret, AuthError> {
    let query = same_place(redirect, &record.redirect_uri);
    let query = query.ok_or_else(|| {
        let expected = &record.redirect_uri;
        refuse(format!(
            "it is not at the redirect URI {expected:?} of this flow"
        ))
    })?;
    let parameters = Parameters::read(query);
    let state = parameters.single("state")?;
    if !state.is_some_and(|state| is_equal(state, record.state.expose())) {
        return Err(refuse(
            "its `state` is not the one of this flow; start the authorization again",
        ));
    }
    check_issuer(parameters.single("iss")?, record)?;
    let error = parameters.single("error")?;
    let code = parameters.single("code")?;
    match (error, code) {
        (Some(_), Some(_)) => Err(refuse("it contains both `code` and `error`")),
        (Some(error), None) => {
            let description = parameters.single("error_description")?;
            Err(refusal(error, description))
        }
        (None, Some(code)) if !code.is_empty() => Ok(code.into()),
        (None, _) => Err(refuse("it contains neither `code` nor `error`")),
    }
}

fn check_issuer(issuer: Option<&str>, record: &FlowRecord) -> Result<(), AuthError> {
    match issuer {
        // Not normalized: any difference may be another server.
        Some(issuer) if issuer == record.issuer => Ok(()),
        Some(_) => Err(refuse(format!(
            "its `iss` is not {:?}, the authorization server of this flow; the code is not used",
            record.issuer
        ))),
        None if record.requires_issuer => Err(refuse(format!(
            "`iss` is missing, although the metadata of {:?} promises it; the code is not used",
            record.issuer
        ))),
        None => Ok(()),
    }
}

fn refuse(reason: impl Into<String>) -> AuthError {
    AuthError::document(DOCUMENT, reason.into())
}

#[cfg(test)]
mod tests {
    use super::super::request::tests::record;
    use super::*;

    fn read(query: &str, requires_issuer: bool) -> Result<Secret, AuthError> {
        let record = FlowRecord {
            requires_issuer,
            ..record()
        };
        read_code(&format!("http://127.0.0.1:4000/callback?{query}"), &record)
    }

    const STATE: &str = "state=state-of-this-flow";
    const ISSUER: &str = "iss=https%3A%2F%2Fauth.example.com";

    #[test]
    fn a_correct_response_yields_its_code() {
        for (query, requires_issuer) in [
            (format!("code=c1&{STATE}"), false),
            (format!("code=c1&{STATE}&{ISSUER}"), false),
            (format!("{ISSUER}&{STATE}&code=c1&extra=1"), true),
        ] {
            let code = read(&query, requires_issuer).unwrap();
            assert_eq!(code.expose(), "c1", "{query}");
        }
    }

    /// AUTH-X-05, AUTH-C-84, AUTH-C-85, AUTH-C-86
    #[test]
    fn the_code_of_another_issuer_is_not_used() {
        for (query, requires_issuer) in [
            (format!("code=c1&{STATE}"), true),
            (
                format!("code=c1&{STATE}&iss=https%3A%2F%2Fevil.example.com"),
                false,
            ),
            (format!("code=c1&{STATE}&{ISSUER}%2F"), true),
            (
                format!("code=c1&{STATE}&iss=https%3A%2F%2FAUTH.example.com"),
                true,
            ),
            (
                format!("code=c1&{STATE}&iss=https%3A%2F%2Fauth.example.com%3A443"),
                true,
            ),
            (format!("code=c1&{STATE}&iss="), false),
        ] {
            let error = read(&query, requires_issuer).unwrap_err();
            assert!(
                matches!(error, AuthError::Document { .. }),
                "{query}: {error}"
            );
        }
    }

    /// AUTH-C-87
    #[test]
    fn the_error_of_another_issuer_is_not_shown() {
        let query = format!(
            "error=access_denied&error_description=canary&{STATE}&iss=https://evil.example.com"
        );
        let error = read(&query, false).unwrap_err().to_string();
        assert!(
            !error.contains("canary") && !error.contains("access_denied"),
            "{error}"
        );
        assert!(!error.contains("evil"), "{error}");
    }

    /// AUTH-X-11, AUTH-C-89
    #[test]
    fn repeated_parameters_are_refused() {
        for query in [
            format!("code=c1&code=c2&{STATE}"),
            format!("code=c1&{STATE}&{STATE}"),
            format!("code=c1&{STATE}&{ISSUER}&{ISSUER}"),
            format!("error=a&error=b&{STATE}"),
            format!("code=c1&error=access_denied&{STATE}"),
            format!("code=&{STATE}"),
            STATE.to_owned(),
            "code=c1".to_owned(),
            "code=c1&state=other".to_owned(),
        ] {
            assert!(read(&query, false).is_err(), "{query}");
        }
    }

    #[test]
    fn a_refusal_of_the_user_has_its_code() {
        let query = format!("error=access_denied&error_description=No%0A&{STATE}");
        let error = read(&query, false).unwrap_err();
        let AuthError::Refused { code, description } = error else {
            panic!("{error}");
        };
        assert_eq!(&*code, "access_denied");
        assert_eq!(description.as_deref(), Some("No\\n"));
    }
}
