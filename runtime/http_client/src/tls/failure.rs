//! Errors of TLS, with the reaction to them.

use std::error::Error as StdError;
use std::time::Duration;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};
use treenail_schema::internal::{quoted, shortened};

/// Maximum number of names of a certificate that an error repeats.
const MAX_NAMES: usize = 4;

/// Finds an error of TLS in a cause.
pub(crate) fn find(cause: &(dyn StdError + 'static)) -> Option<Error> {
    let mut cause = cause;
    // I/O errors are nested, and do not name the inner one as their source.
    while let Some(error) = cause.downcast_ref::<std::io::Error>() {
        cause = error.get_ref()?;
    }
    let found = cause.downcast_ref().cloned();
    found.or_else(|| find_alert(&cause.to_string()))
}

/// Finds the alert in a text, because an error of HTTP/2 preserves only the texts of I/O errors.
fn find_alert(text: &str) -> Option<Error> {
    let mut alerts = (0..=u8::MAX).map(|alert| Error::AlertReceived(alert.into()));
    // A connection fails once, so comparing texts costs nothing that counts.
    text.starts_with("received fatal alert")
        .then(|| alerts.find(|alert| alert.to_string() == text))?
}

/// Returns true for an alert about the certificate of the client. TLS 1.3 sends it after the handshake of the client, and before the server
/// processes anything.
pub(crate) fn is_refusal(error: &Error) -> bool {
    use AlertDescription as Alert;
    let Error::AlertReceived(alert) = error else {
        return false;
    };
    matches!(
        alert,
        Alert::AccessDenied
            | Alert::BadCertificate
            | Alert::CertificateExpired
            | Alert::CertificateRequired
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::DecryptError
            | Alert::UnknownCA
            | Alert::UnsupportedCertificate
    )
}

/// Describes an error of TLS, as a continuation of "no connection to the server".
pub(crate) fn describe(error: &Error) -> String {
    match error {
        // For example a response of plain HTTP.
        Error::InvalidMessage(_) => {
            "its answer is not TLS; use `http://` in the URL if it serves plain HTTP".to_owned()
        }
        Error::InvalidCertificate(error) => describe_certificate(error),
        Error::AlertReceived(alert) => describe_alert(*alert),
        other => format!("TLS failed: {}", shortened(&other.to_string())),
    }
}

fn describe_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "the issuer of its certificate is not trusted; \
            trust a private authority with `TlsConfig::ca_file`, or in the system"
            .to_owned(),
        CertificateError::BadSignature => {
            "its certificate is not signed by the trusted authority of this name, which may have a new certificate"
                .to_owned()
        }
        CertificateError::Expired => {
            "its certificate has expired; renew it, or correct the clock of this computer".to_owned()
        }
        CertificateError::ExpiredContext { time, not_after } => format!(
            "its certificate expired {} ago; renew it, or correct the clock of this computer",
            age(*time, *not_after)
        ),
        CertificateError::NotValidYet => {
            "its certificate is not valid yet; correct the clock of this computer".to_owned()
        }
        CertificateError::NotValidYetContext { time, not_before } => format!(
            "its certificate becomes valid in {}; correct the clock of this computer",
            age(*not_before, *time)
        ),
        CertificateError::NotValidForName => {
            "its certificate is for another host; use a host of the certificate in the URL".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => wrong_host(presented),
        // The error of the verifier has no type that can be named here.
        CertificateError::Other(error) if error.to_string() == "CaUsedAsEndEntity" => {
            "its certificate is that of an authority; a server needs one that the authority has issued"
                .to_owned()
        }
        CertificateError::Revoked => "its certificate was revoked".to_owned(),
        other => format!("its certificate is refused: {}", shortened(&other.to_string())),
    }
}

fn wrong_host(presented: &[String]) -> String {
    if presented.is_empty() {
        return "its certificate names no host; it needs a subject alternative name".to_owned();
    }
    let names = presented.iter().take(MAX_NAMES).map(|name| {
        // The texts of rustls are `DnsName("example.com")` and `IpAddress(127.0.0.1)`.
        let inner = name
            .split_once('(')
            .and_then(|(_, rest)| rest.strip_suffix(')'));
        quoted(inner.unwrap_or(name).trim_matches('"'))
    });
    let names = names.collect::<Vec<_>>().join(", ");
    let more = if presented.len() > MAX_NAMES {
        ", …"
    } else {
        ""
    };
    format!("its certificate is for {names}{more}; use one of these hosts in the URL")
}

/// Returns the time between two points, in the largest unit of which it has at least two.
fn age(later: UnixTime, earlier: UnixTime) -> String {
    let passed = Duration::from_secs(later.as_secs().saturating_sub(earlier.as_secs()));
    match passed.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} hours", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

fn describe_alert(alert: AlertDescription) -> String {
    const SET: &str = "`TlsConfig::client_certificate_files`";
    match alert {
        AlertDescription::CertificateRequired => {
            format!("it requires a client certificate; set one with {SET}")
        }
        AlertDescription::CertificateExpired => {
            "it refuses the client certificate, which has expired; renew it".to_owned()
        }
        AlertDescription::UnknownCA => "it does not trust the issuer of the client certificate; \
            the file must contain the intermediate certificates too"
            .to_owned(),
        AlertDescription::CertificateRevoked => {
            "it refuses the client certificate, which was revoked".to_owned()
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => {
            format!(
                "it refuses the client certificate, or requires another one ({alert:?}); see {SET}"
            )
        }
        AlertDescription::HandshakeFailure => {
            format!(
                "it refuses the handshake; if it requires a client certificate, set one with {SET}"
            )
        }
        AlertDescription::ProtocolVersion => "it supports neither TLS 1.3 nor TLS 1.2".to_owned(),
        AlertDescription::UnrecognisedName => "it does not know the host of the URL".to_owned(),
        other => format!("it ended the connection with the alert {other:?} of TLS"),
    }
}
