//! Private keys in PEM (RFC 7468).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::AuthError;

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// Returns the first PKCS#8 document of a PEM text. Text around it is ignored.
pub(super) fn read_pkcs8(pem: &str) -> Result<Zeroizing<Vec<u8>>, AuthError> {
    let body = pem
        .split_once(BEGIN)
        .and_then(|(_, rest)| rest.split_once(END));
    let Some((body, _)) = body else {
        return Err(AuthError::invalid(describe(pem)));
    };
    let body: Zeroizing<String> = Zeroizing::new(body.split_ascii_whitespace().collect());
    let document = STANDARD.decode(&*body).map(Zeroizing::new);
    document.map_err(|_| AuthError::invalid("the private key in PEM is not base64"))
}

/// Returns the reason why a text has no private key, without a part of the text.
fn describe(pem: &str) -> &'static str {
    if pem.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        "the private key is encrypted; decrypt it with `openssl pkcs8 -in KEY`"
    } else if pem.contains("-----BEGIN EC PRIVATE KEY-----")
        || pem.contains("-----BEGIN RSA PRIVATE KEY-----")
    {
        "the private key is not in PKCS#8; convert it with `openssl pkcs8 -topk8 -nocrypt -in KEY`"
    } else {
        "the text has no `BEGIN PRIVATE KEY` section; a key in PKCS#8 is expected, in PEM"
    }
}
