//! Headers of a request that its checks read, found in one pass over all of them.

use http::{HeaderMap, HeaderName, HeaderValue};
use treenail_runtime::RpcError;
use treenail_schema::Revision;

use crate::headers::header_mismatch;

/// Headers that are checked before the body is read. One pass replaces a look-up of each, which hashes its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestHeaders<'a> {
    pub(super) all: &'a HeaderMap,
    /// Size of all names and values.
    pub(super) bytes: usize,
    pub(super) host: Field<'a>,
    pub(super) origin: Field<'a>,
    pub(super) transfer_encoding: Field<'a>,
    pub(super) content_type: Field<'a>,
    pub(super) content_encoding: Field<'a>,
    pub(super) accept: Field<'a>,
    version: Field<'a>,
}

/// Header that a request may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Field<'a> {
    /// The first value.
    pub(super) value: Option<&'a HeaderValue>,
    pub(super) is_repeated: bool,
}

impl<'a> RequestHeaders<'a> {
    pub(super) fn read(all: &'a HeaderMap) -> Self {
        let mut headers = Self {
            all,
            bytes: 0,
            host: Field::default(),
            origin: Field::default(),
            transfer_encoding: Field::default(),
            content_type: Field::default(),
            content_encoding: Field::default(),
            accept: Field::default(),
            version: Field::default(),
        };
        for (name, value) in all {
            let name = name.as_str();
            headers.bytes += name.len() + value.len();
            let field = match name {
                "host" => &mut headers.host,
                "origin" => &mut headers.origin,
                "transfer-encoding" => &mut headers.transfer_encoding,
                "content-type" => &mut headers.content_type,
                "content-encoding" => &mut headers.content_encoding,
                "accept" => &mut headers.accept,
                "mcp-protocol-version" => &mut headers.version,
                _ => continue,
            };
            field.add(value);
        }
        headers
    }

    /// Returns the revision that the headers name, if it is a supported one.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.version.value?.to_str().ok()?.trim().parse().ok()
    }
}

impl<'a> Field<'a> {
    /// Looks a header up by its name.
    pub(super) fn find(headers: &'a HeaderMap, name: &HeaderName) -> Self {
        // Usually no header occurs twice, and the two numbers are equal.
        let may_be_repeated = headers.len() != headers.keys_len();
        Self {
            value: headers.get(name),
            is_repeated: may_be_repeated && headers.get_all(name).iter().count() > 1,
        }
    }

    pub(super) fn add(&mut self, value: &'a HeaderValue) {
        if self.value.is_some() {
            self.is_repeated = true;
        } else {
            self.value = Some(value);
        }
    }

    pub(super) fn is_present(self) -> bool {
        self.value.is_some()
    }

    /// Returns the trimmed value of the header `name`. It is an error if the header occurs twice.
    pub(super) fn text(self, name: &HeaderName) -> Result<Option<&'a str>, RpcError> {
        let Some(value) = self.value else {
            return Ok(None);
        };
        if self.is_repeated {
            return Err(header_mismatch(format!("the header `{name}` occurs twice")));
        }
        // `to_str` accepts visible ASCII and tabs only.
        let value = value.to_str().map_err(|_| {
            header_mismatch(format!("the header `{name}` contains invalid characters"))
        })?;
        Ok(Some(value.trim_matches([' ', '\t'])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_and_a_second_one_is_noticed() {
        let mut all = HeaderMap::new();
        for (name, value) in [
            ("host", "a"),
            ("accept", "b"),
            ("x", "yz"),
            ("mcp-protocol-version", "2026-07-28"),
        ] {
            all.insert(name, HeaderValue::from_static(value));
        }
        all.append("accept", HeaderValue::from_static("c"));
        let headers = RequestHeaders::read(&all);
        assert_eq!(headers.bytes, 5 + 7 + 7 + 3 + 30);
        assert_eq!(headers.host.value.unwrap(), "a");
        assert_eq!(headers.accept.value.unwrap(), "b");
        assert!(headers.accept.is_repeated && !headers.host.is_repeated);
        assert!(!headers.origin.is_present());
        assert_eq!(headers.revision(), Some(Revision::LATEST));
        let found = Field::find(&all, &http::header::ACCEPT);
        assert_eq!(found.value.unwrap(), "b");
        assert!(found.is_repeated);
    }
}
