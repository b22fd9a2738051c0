//! Authentication of the client at an authorization server (RFC 6749, section 2.3).

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::form::Form;
use crate::client::assertion;
use crate::jose::SigningKey;
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Secret};

/// Client id with the means to prove it.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) proof: ClientProof,
    /// `token_endpoint_auth_method` of the registration, which decides if it is known.
    pub(crate) registered_method: Option<String>,
}

/// Means of a client to prove its id.
#[derive(Clone, Debug)]
pub(crate) enum ClientProof {
    /// A public client.
    None,
    Secret(Secret),
    /// Signs an assertion for each request.
    Key(SigningKey),
}

/// Method of authentication, as in `token_endpoint_auth_methods_supported`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    None,
    PrivateKey,
    Basic,
    Post,
}

impl Method {
    /// The best one first.
    const BY_PREFERENCE: [Self; 4] = [Self::PrivateKey, Self::Basic, Self::Post, Self::None];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::PrivateKey => "private_key_jwt",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let mut methods = Self::BY_PREFERENCE.into_iter();
        methods.find(|method| method.name() == name)
    }

    fn suits(self, proof: &ClientProof) -> bool {
        matches!(
            (self, proof),
            (Self::None, _)
                | (Self::Basic | Self::Post, ClientProof::Secret(_))
                | (Self::PrivateKey, ClientProof::Key(_))
        )
    }
}

impl Client {
    /// Returns a public client.
    pub(crate) fn public(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            proof: ClientProof::None,
            registered_method: None,
        }
    }

    /// Returns the method of this client: that of its registration, else the best that the authorization server lists.
    pub(crate) fn method(&self, supported: Option<&[String]>) -> Result<Method, AuthError> {
        if let Some(name) = &self.registered_method {
            let method = Method::from_name(name).filter(|method| method.suits(&self.proof));
            return method.ok_or_else(|| {
                AuthError::document(
                    "client registration",
                    format!(
                        "`token_endpoint_auth_method` is {name:?}, which this client cannot use"
                    ),
                )
            });
        }
        let Some(supported) = supported else {
            return Ok(match self.proof {
                ClientProof::Key(_) => Method::PrivateKey,
                ClientProof::Secret(_) => Method::Basic,
                ClientProof::None => Method::None,
            });
        };
        let is_listed = |method: &Method| supported.iter().any(|name| name == method.name());
        let mut suitable = Method::BY_PREFERENCE
            .into_iter()
            .filter(|method| method.suits(&self.proof));
        if matches!(self.proof, ClientProof::None) {
            // A public client has no other way.
            return Ok(Method::None);
        }
        suitable.find(is_listed).ok_or_else(|| {
            let reason =
                "`token_endpoint_auth_methods_supported` lists no method that this client can use";
            AuthError::document("authorization server metadata", reason)
        })
    }

    /// Checks that this client can authenticate at an authorization server.
    pub(crate) fn check(&self, metadata: &AuthorizationServerMetadata) -> Result<(), AuthError> {
        let supported = metadata.token_endpoint_auth_methods_supported.as_deref();
        match (self.method(supported)?, &self.proof) {
            (Method::PrivateKey, ClientProof::Key(key)) => assertion::check(key, metadata),
            _ => Ok(()),
        }
    }

    /// Adds the authentication to a request. Returns the value of the header `Authorization`, if that is its place.
    pub(crate) fn authenticate(
        &self,
        form: &mut Form,
        metadata: &AuthorizationServerMetadata,
        now: SystemTime,
    ) -> Result<Option<Secret>, AuthError> {
        let supported = metadata.token_endpoint_auth_methods_supported.as_deref();
        match (self.method(supported)?, &self.proof) {
            (Method::Basic, ClientProof::Secret(secret)) => {
                // Servers of the Python SDK read the client from the form.
                form.set("client_id", &self.id);
                return Ok(Some(basic(&self.id, secret.expose())));
            }
            (Method::Post, ClientProof::Secret(secret)) => {
                form.set("client_id", &self.id);
                form.set("client_secret", secret.expose());
            }
            (Method::PrivateKey, ClientProof::Key(key)) => {
                let assertion = assertion::sign(key, &self.id, metadata, now)?;
                form.set("client_id", &self.id);
                form.set("client_assertion_type", assertion::TYPE);
                form.set("client_assertion", assertion.expose());
            }
            _ => form.set("client_id", &self.id),
        }
        Ok(None)
    }
}

/// Returns the header value of HTTP Basic: both parts are form-encoded first.
fn basic(id: &str, secret: &str) -> Secret {
    let encode =
        |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
    let pair = Secret::from(format!("{}:{}", encode(id), encode(secret)));
    format!("Basic {}", STANDARD.encode(pair.expose())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(secret: bool, registered: Option<&str>) -> Client {
        Client {
            id: "a:b c".into(),
            proof: if secret {
                ClientProof::Secret("p&w".into())
            } else {
                ClientProof::None
            },
            registered_method: registered.map(Into::into),
        }
    }

    /// AUTH-C-95
    #[test]
    fn exactly_one_method_is_chosen() {
        let method = |secret, registered, list: Option<&[&str]>| {
            let list: Option<Vec<_>> =
                list.map(|list| list.iter().map(ToString::to_string).collect());
            client(secret, registered).method(list.as_deref()).ok()
        };
        assert_eq!(method(true, None, None), Some(Method::Basic));
        assert_eq!(method(false, None, None), Some(Method::None));
        assert_eq!(
            method(
                true,
                None,
                Some(&["client_secret_post", "client_secret_basic"])
            ),
            Some(Method::Basic)
        );
        assert_eq!(
            method(true, None, Some(&["client_secret_post"])),
            Some(Method::Post)
        );
        assert_eq!(method(true, None, Some(&["none"])), Some(Method::None));
        assert_eq!(method(true, None, Some(&["private_key_jwt"])), None);
        assert_eq!(
            method(true, Some("none"), Some(&["client_secret_basic"])),
            Some(Method::None)
        );
        assert_eq!(
            method(true, Some("client_secret_post"), None),
            Some(Method::Post)
        );
        assert_eq!(method(false, Some("client_secret_post"), None), None);
        assert_eq!(method(true, Some("tls_client_auth"), None), None);
    }

    /// AUTH-C-96
    #[test]
    fn basic_authentication_is_encoded_twice() {
        let mut form = Form::new();
        let metadata = AuthorizationServerMetadata::default();
        let header = client(true, None).authenticate(&mut form, &metadata, SystemTime::UNIX_EPOCH);
        let header = header.unwrap();
        let header = header.unwrap();
        let encoded = header.expose().strip_prefix("Basic ").unwrap();
        assert_eq!(STANDARD.decode(encoded).unwrap(), b"a%3Ab+c:p%26w");
        assert_eq!(form.iter().collect::<Vec<_>>(), [("client_id", "a:b c")]);
    }
}
