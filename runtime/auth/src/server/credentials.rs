//! Credentials of a request (RFC 6750, section 2.1; RFC 9449, section 7.1).

use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;

/// Access token of a request, with the scheme that it was sent under.
#[derive(Clone, Copy)]
pub(super) struct Credentials<'a> {
    pub(super) scheme: Scheme,
    pub(super) token: &'a str,
}

/// Authentication scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Bearer,
    Dpop,
}

impl Scheme {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }
}

/// Reads the access token of a request. `None` if it has none; the error describes a malformed request.
pub(super) fn credentials(parts: &Parts) -> Result<Option<Credentials<'_>>, &'static str> {
    let mut fields = parts.headers.get_all(AUTHORIZATION).iter();
    let Some(field) = fields.next() else {
        return Ok(None);
    };
    if fields.next().is_some() {
        return Err("the header `Authorization` occurs twice");
    }
    let field = field
        .to_str()
        .map_err(|_| "the header `Authorization` contains invalid characters")?;
    let (scheme, token) = field.split_once(' ').unwrap_or((field, ""));
    let scheme = match scheme {
        name if name.eq_ignore_ascii_case("Bearer") => Scheme::Bearer,
        name if name.eq_ignore_ascii_case("DPoP") => Scheme::Dpop,
        _ => return Ok(None),
    };
    let token = token.trim_matches(' ');
    if token.is_empty() {
        return Err("the header `Authorization` has no token");
    }
    if !is_token(token) {
        return Err("the token contains characters that are not allowed");
    }
    if has_token_in_query(parts) {
        return Err("the query contains a token too; send it in the header `Authorization` only");
    }
    Ok(Some(Credentials { scheme, token }))
}

/// Returns the only value of the header `DPoP`, if it occurs once.
pub(super) fn proof(headers: &HeaderMap) -> Option<&str> {
    let mut fields = headers.get_all("dpop").iter();
    let proof = fields.next().filter(|_| fields.next().is_none())?;
    proof.to_str().ok()
}

/// Returns true if `token` is a `b64token`.
pub(super) fn is_token(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    let is_allowed = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/')
    };
    !body.is_empty() && body.bytes().all(is_allowed)
}

fn has_token_in_query(parts: &Parts) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    query
        .split('&')
        .any(|member| member.split('=').next() == Some("access_token"))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn read(uri: &str, fields: &[&str]) -> Result<Option<(Scheme, String)>, &'static str> {
        let mut request = Request::post(uri);
        for field in fields {
            request = request.header(AUTHORIZATION, *field);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let found = credentials(&parts)?;
        Ok(found.map(|it| (it.scheme, it.token.to_owned())))
    }

    #[test]
    fn tokens_are_read_from_one_header_only() {
        let bearer = |token: &str| Ok(Some((Scheme::Bearer, token.to_owned())));
        let cases: [(&str, &[&str], _); 13] = [
            ("/mcp", &[], Ok(None)),
            ("/mcp?access_token=abc", &[], Ok(None)),
            ("/mcp", &["Basic YWxpY2U6eA=="], Ok(None)),
            (
                "/mcp",
                &["Bearer abc.d-e_f~g+h/i=="],
                bearer("abc.d-e_f~g+h/i=="),
            ),
            ("/mcp", &["BEARER abc"], bearer("abc")),
            ("/mcp", &["Bearer  abc"], bearer("abc")),
            (
                "/mcp",
                &["DPoP abc"],
                Ok(Some((Scheme::Dpop, "abc".to_owned()))),
            ),
            ("/mcp", &["Bearer abc", "Bearer abc"], Err("twice")),
            ("/mcp", &["Bearer"], Err("no token")),
            ("/mcp", &["Bearer "], Err("no token")),
            ("/mcp", &["Bearer a b"], Err("characters")),
            ("/mcp", &["Bearer a\"b"], Err("characters")),
            ("/mcp?x=1&access_token=abc", &["Bearer abc"], Err("query")),
        ];
        for (uri, fields, expected) in cases {
            match (read(uri, fields), expected) {
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{error}"),
                (found, expected) => assert_eq!(found, expected, "AUTH-R-10 AUTH-R-19: {fields:?}"),
            }
        }
    }
}
