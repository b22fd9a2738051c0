//! Parameters of queries and forms.

/// Parameters in the order of the text. Empty values count as absent (RFC 6749, section 3.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Parses the format `application/x-www-form-urlencoded`.
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Self(pairs.collect())
    }

    /// Returns the first value of this name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.iter();
        let (_, value) = pairs.find(|(other, value)| other == name && !value.is_empty())?;
        Some(value)
    }

    /// Returns all values of this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.iter();
        let named = pairs.filter(move |(other, value)| other == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// Returns all pairs.
    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Returns a name that occurs twice, though only `resource` and `audience` may (RFC 8707, RFC 8693).
    pub(super) fn repeated(&self) -> Option<&str> {
        let names = || self.0.iter().map(|(name, _)| name.as_str());
        let single = |name: &&str| !matches!(*name, "resource" | "audience");
        names()
            .filter(single)
            .find(|name| names().filter(|other| other == name).count() > 1)
    }
}

/// Decodes one name or value. Malformed escapes are copied.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, tail) = match (first, tail) {
            (b'+', _) => (b' ', tail),
            (b'%', [high, low, tail @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, tail),
                _ => (b'%', &rest[1..]),
            },
            _ => (*first, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Encodes one value for a query.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write as _;

    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_encoding() {
        for text in ["a b+c%&=", "ä€", "%zz", "%", ""] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(decode("a+b%20c%2"), "a b c%2");
    }

    #[test]
    fn only_resource_and_audience_may_be_repeated() {
        let parameters = Parameters::parse("resource=a&resource=b&scope=x");
        assert_eq!(parameters.repeated(), None);
        assert_eq!(parameters.all("resource").count(), 2);
        assert_eq!(Parameters::parse("code=a&code=a").repeated(), Some("code"));
    }
}
