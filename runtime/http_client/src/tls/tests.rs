//! Errors of settings, and secrets that must not be shown.

use std::path::Path;

use rcgen::{CertificateParams, CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::ClientConfig;

use super::{TlsConfig, without_client_certificate};
use crate::error::HttpError;

/// Certificate and key, in PEM.
fn identity() -> (String, String) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["client.example".to_owned()]).unwrap();
    (cert.pem(), signing_key.serialize_pem())
}

/// Returns the reason for which settings cannot be used.
fn refused(tls: &TlsConfig) -> String {
    match tls.client_config() {
        Err(HttpError::Invalid(reason)) => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

const NO_CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

#[test]
fn errors_of_authorities_name_the_block() {
    let (certificate, key) = identity();
    let cut = format!("{certificate}{}", &certificate[..certificate.len() / 2]);
    let garbled = "-----BEGIN CERTIFICATE-----\n*secret*\n-----END CERTIFICATE-----\n";
    for (pem, expected) in [
        (
            "",
            "there is no PEM, which starts with `-----BEGIN …`; convert other formats with `openssl`",
        ),
        (&*key, "there is no certificate, but `PRIVATE KEY`"),
        (&cut, "block 2 has no end line"),
        (garbled, "block 1 is not base64"),
        (
            &format!("{certificate}-----BEGIN secret\n"),
            "block 2 has a malformed start line",
        ),
        (
            &format!("{certificate}{NO_CERTIFICATE}"),
            "certificate 2 is malformed",
        ),
    ] {
        let reason = refused(&TlsConfig::new().ca_pem(pem).without_system_roots());
        let expected = format!("certificate authorities in the given PEM: {expected}");
        assert_eq!(reason, expected);
    }
    let expected =
        "`TlsConfig::without_system_roots` trusts no authority; add one with `ca_file` or `ca_pem`";
    assert_eq!(refused(&TlsConfig::new().without_system_roots()), expected);
}

#[test]
fn errors_of_a_client_certificate_name_the_part() {
    let (certificate, key) = identity();
    let (authority, other_key) = identity();
    let encrypted = key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    let old_encrypted = key.replace("PRIVATE", "RSA PRIVATE").replacen(
        "KEY-----\n",
        "KEY-----\nProc-Type: 4,ENCRYPTED\n\n",
        1,
    );
    let is_encrypted =
        "key in the given PEM: the key is encrypted; decrypt it, for example with `openssl pkey`";
    for (certificate, key, expected) in [
        (
            &*key,
            &*key,
            "certificate in the given PEM: there is no certificate, but `PRIVATE KEY`",
        ),
        (
            NO_CERTIFICATE,
            &key,
            "certificate in the given PEM: the first certificate is malformed",
        ),
        (
            &certificate,
            &certificate,
            "key in the given PEM: there is no private key, but `CERTIFICATE`",
        ),
        (
            &certificate,
            &other_key,
            "key in the given PEM: it does not match the first certificate of the client certificate in the given PEM",
        ),
        (&certificate, &encrypted, is_encrypted),
        (&certificate, &old_encrypted, is_encrypted),
    ] {
        let tls = TlsConfig::new()
            .ca_pem(&*authority)
            .without_system_roots()
            .client_certificate_pem(certificate, key);
        assert_eq!(refused(&tls), format!("client {expected}"));
    }
}

#[test]
fn errors_of_files_name_the_file() {
    let missing = TlsConfig::new().ca_file("no/such/ca.pem");
    let expected =
        "certificate authorities in `no/such/ca.pem`: the file cannot be read: No such file";
    assert!(refused(&missing).starts_with(expected), "{missing:?}");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let (certificate, _) = identity();
    let tls = TlsConfig::new()
        .ca_pem(certificate)
        .without_system_roots()
        .client_certificate_files(&here, &here);
    let expected = format!(
        "client certificate in `{}`: there is no PEM",
        here.display()
    );
    assert!(refused(&tls).starts_with(&expected), "{}", refused(&tls));
}

#[cfg(target_os = "linux")]
#[test]
fn files_are_read_up_to_a_limit() {
    let tls = TlsConfig::new().ca_file("/dev/zero");
    let expected = "certificate authorities in `/dev/zero`: the file has more than 4 MiB";
    assert_eq!(refused(&tls), expected);
}

#[test]
fn keys_are_accepted_behind_other_blocks() {
    let (certificate, key) = identity();
    let both = format!("A comment.\r\n{certificate}{key}").replace('\n', "\r\n");
    let tls = TlsConfig::new()
        .ca_pem(both.clone())
        .without_system_roots()
        .client_certificate_pem(both.clone(), both);
    let config = tls.client_config().unwrap();
    assert!(config.client_auth_cert_resolver.has_certs());
    assert_eq!(config.alpn_protocols, [&b"h2"[..], b"http/1.1"]);
    let config = without_client_certificate(&tls).client_config().unwrap();
    assert!(!config.client_auth_cert_resolver.has_certs());
}

#[test]
fn a_configuration_of_the_program_is_used_as_it_is() {
    let (certificate, key) = identity();
    let tls = TlsConfig::new()
        .ca_pem(certificate.clone())
        .without_system_roots()
        .client_certificate_pem(certificate, key);
    let mut ready = ClientConfig::clone(&tls.client_config().unwrap());
    ready.alpn_protocols = vec![b"http/1.1".to_vec()];
    let tls = TlsConfig::from(ready);
    let config = tls.client_config().unwrap();
    assert_eq!(config.alpn_protocols, [b"http/1.1"]);
    assert!(config.client_auth_cert_resolver.has_certs());
    let others = without_client_certificate(&tls).client_config().unwrap();
    assert!(!others.client_auth_cert_resolver.has_certs());
    let expected = "`TlsConfig` of a `rustls::ClientConfig` has further certificates; add them to the `ClientConfig`";
    assert_eq!(refused(&tls.ca_file("ca.pem")), expected);
}

#[test]
fn debug_output_and_errors_have_no_key() {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap();
    let secret = key.serialize_pem();
    // Errors have the start of long texts.
    let secret_start = &secret.lines().nth(1).unwrap()[..8];
    let tls = TlsConfig::new()
        .ca_file("ca.pem")
        .client_certificate_pem(certificate.pem(), secret.clone());
    let text = format!("{tls:?}");
    assert!(!text.contains(secret_start), "{text}");
    assert_eq!(
        text,
        "TlsConfig { authorities: [\"ca.pem\"], has_system_roots: true, certificate: PEM, key: PEM, .. }"
    );
    let broken = secret.replace("-----END", "*");
    let on_one_line = secret.replace('\n', "");
    let with_returns = secret.replace('\n', "\r");
    for (chain, key) in [
        (certificate.pem(), broken),
        (with_returns, secret.clone()),
        (on_one_line, secret.clone()),
    ] {
        let tls = TlsConfig::new()
            .ca_pem(certificate.pem())
            .client_certificate_pem(chain, key);
        let text = refused(&tls);
        assert!(!text.contains(secret_start), "{text}");
    }
}
