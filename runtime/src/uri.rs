//! Validation of URIs (RFC 3986) and of URI templates (RFC 6570).

use std::net::Ipv6Addr;

/// Validates a URI: a scheme and what may follow it. The error is a reason for a message about the URI.
pub(crate) fn check_uri(uri: &str) -> Result<(), String> {
    let (_, rest) = uri
        .split_once(':')
        .filter(|(scheme, _)| is_scheme(scheme))
        .ok_or("it does not start with a scheme, as in `https:`")?;
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    check_part(fragment, ":@/?")?;
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    check_part(query, ":@/?")?;
    let Some(hierarchy) = hierarchy.strip_prefix("//") else {
        return check_part(hierarchy, ":@/");
    };
    let authority = hierarchy.find('/').unwrap_or(hierarchy.len());
    let (authority, path) = hierarchy.split_at(authority);
    check_authority(authority)?;
    check_part(path, ":@/")
}

/// Validates a URI template of any level.
pub(crate) fn check_template(template: &str) -> Result<(), String> {
    let mut rest = template;
    while let Some((literal, after)) = rest.split_once('{') {
        check_chars(literal, &is_literal)?;
        let (expression, after) = after.split_once('}').ok_or("a `{` is never closed")?;
        if !is_expression(expression) {
            return Err(format!("`{{{expression}}}` is no expression"));
        }
        rest = after;
    }
    check_chars(rest, &is_literal)
}

fn is_scheme(scheme: &str) -> bool {
    let mut bytes = scheme.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Validates a user, a host and a port.
fn check_authority(authority: &str) -> Result<(), String> {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    check_part(user, ":")?;
    let (host, port) = match host.strip_prefix('[') {
        Some(literal) => {
            let (address, port) = literal.split_once(']').ok_or("a `[` is never closed")?;
            if !is_address(address) {
                return Err(format!("`[{address}]` is no address"));
            }
            ("", port)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    check_part(host, "")?;
    let port = port.strip_prefix(':').unwrap_or(port);
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("`{port}` is no port"));
    }
    Ok(())
}

/// Returns whether a host in brackets is valid: an address of IPv6, or of a future version.
fn is_address(address: &str) -> bool {
    let Some(future) = address.strip_prefix(['v', 'V']) else {
        return address.parse::<Ipv6Addr>().is_ok();
    };
    let is_part = |c: char| is_unreserved(c) || is_delimiter(c) || c == ':';
    future.split_once('.').is_some_and(|(version, rest)| {
        let is_version = !version.is_empty() && version.bytes().all(|it| it.is_ascii_hexdigit());
        is_version && !rest.is_empty() && rest.chars().all(is_part)
    })
}

/// Validates a part of a URI that may have characters of `others`.
fn check_part(part: &str, others: &str) -> Result<(), String> {
    check_chars(part, &|c| {
        is_unreserved(c) || is_delimiter(c) || others.contains(c)
    })
}

/// Validates a text of percent-encoded octets, and of characters that are allowed.
fn check_chars(text: &str, allowed: &dyn Fn(char) -> bool) -> Result<(), String> {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '%' {
            let mut digit = || rest.next().is_some_and(|c| c.is_ascii_hexdigit());
            if !(digit() && digit()) {
                return Err("a `%` is not followed by two hexadecimal digits".to_owned());
            }
        } else if !allowed(c) {
            return Err(format!("{c:?} is not allowed; write it percent-encoded"));
        }
    }
    Ok(())
}

fn is_unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~".contains(c)
}

fn is_delimiter(c: char) -> bool {
    "!$&'()*+,;=".contains(c)
}

/// Literal text of a template. Only ASCII: other characters would have to be encoded before a URI is compared with it.
fn is_literal(c: char) -> bool {
    c.is_ascii_graphic() && !"\"%<>\\^`{|}".contains(c)
}

fn is_expression(expression: &str) -> bool {
    let variables = expression.strip_prefix(['+', '#', '.', '/', ';', '?', '&']);
    variables.unwrap_or(expression).split(',').all(is_variable)
}

/// `name`, `name*` and `name:3`.
fn is_variable(variable: &str) -> bool {
    let (name, length) = variable.split_once(':').unwrap_or((variable, "1"));
    let name = match variable.contains(':') {
        true => name,
        false => name.strip_suffix('*').unwrap_or(name),
    };
    let is_length = length.len() <= 4
        && !length.starts_with('0')
        && length.parse::<u16>().is_ok()
        && length.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !part.is_empty() && check_chars(part, &allowed).is_ok()
    };
    is_length && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use iri_string::template::UriTemplateStr;
    use iri_string::types::UriStr;

    use super::*;

    #[test]
    fn uris_are_those_of_the_rfc() {
        for uri in [
            "https://example.com/a?b#c",
            "mailto:a@b",
            "urn:isbn:0451450523",
            "file:///a",
            "a:",
            "a+b-c.1:%20//",
            "x://u:p@[::1]:80/",
            "x://[v1.a:b]",
            "x://[::ffff:1.2.3.4]:",
            "x://a:/?/?#/?",
        ] {
            assert_eq!(check_uri(uri), Ok(()), "{uri}");
        }
        for (uri, reason) in [
            ("", "it does not start with a scheme, as in `https:`"),
            ("/a", "it does not start with a scheme, as in `https:`"),
            ("1a:b", "it does not start with a scheme, as in `https:`"),
            ("x://a b", "' ' is not allowed; write it percent-encoded"),
            ("x://é", "'é' is not allowed; write it percent-encoded"),
            ("x:a#b#c", "'#' is not allowed; write it percent-encoded"),
            ("x:%4", "a `%` is not followed by two hexadecimal digits"),
            ("x:%4é", "a `%` is not followed by two hexadecimal digits"),
            ("x://a:b", "`b` is no port"),
            ("x://[::1", "a `[` is never closed"),
            ("x://[::g]", "`[::g]` is no address"),
            ("x://[::1]a", "`a` is no port"),
        ] {
            assert_eq!(check_uri(uri), Err(reason.to_owned()), "{uri}");
        }
    }

    #[test]
    fn templates_are_those_of_the_rfc() {
        for template in ["x://{a}/{+b}", "{?a,b*,c:3}", "{%41.b_}", "%41", ""] {
            assert_eq!(check_template(template), Ok(()), "{template}");
        }
        for template in [
            "{",
            "}",
            "{}",
            "{a",
            "{!a}",
            "{a,}",
            "{a:0}",
            "{a:12345}",
            "{a:3*}",
            "{a..b}",
            "{-}",
            "%4",
            "a b",
            "é",
            "{a:+1}",
        ] {
            assert!(check_template(template).is_err(), "{template}");
        }
    }

    /// A random text that is often nearly a URI or a template.
    fn random_text(random: &mut fastrand::Rng) -> String {
        let pieces = [
            "x", "a1", ":", "//", "/", "?", "#", "@", "[", "]", "::", "1.2.3.4", "%41", "%", "é",
            " ", "{", "}", "{a}", "{+b}", "{a,b*}", ":3", "*", ",", "v1.", "&", "|", "80", ".",
        ];
        let first = ["", "x:", "x://", "x://[", "{"];
        let mut text = first[random.usize(..first.len())].to_owned();
        for _ in 0..random.usize(..8) {
            text.push_str(pieces[random.usize(..pieces.len())]);
        }
        text
    }

    #[test]
    fn another_implementation_agrees() {
        let mut random = fastrand::Rng::with_seed(1);
        let (mut uris, mut templates) = (0, 0);
        for _ in 0..200_000 {
            let text = random_text(&mut random);
            let is_uri = check_uri(&text).is_ok();
            assert_eq!(is_uri, UriStr::new(&text).is_ok(), "{text}");
            let is_template = check_template(&text).is_ok();
            assert_eq!(is_template, UriTemplateStr::new(&text).is_ok(), "{text}");
            uris += usize::from(is_uri);
            templates += usize::from(is_template);
        }
        assert!(uris > 1_000 && templates > 1_000, "{uris}, {templates}");
    }
}
