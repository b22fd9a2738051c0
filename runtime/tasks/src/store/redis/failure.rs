//! Errors of Redis as errors of a store.

use std::error::Error;
use std::io;
use std::sync::Arc;

use treenail_redis::internal::redis::{ErrorKind, RedisError};

use crate::store::StoreError;

/// Longest code of an error in a message, in bytes.
const CODE_BYTES: usize = 32;
/// Reason of an error before a handshake of TLS.
const TLS_SETTINGS: &str = "TLS to Redis cannot be prepared; check the host name of the URL, and the trusted roots (`SSL_CERT_FILE`, if it is set)";

/// Converts an error. Its message contains no text of Redis, which may have a part of a task, apart from the code.
pub(super) fn store_error(error: &RedisError) -> StoreError {
    let unavailable = |reason: &str| StoreError::Unavailable(reason.to_owned());
    match error.kind() {
        // An error of rustls, such as that of a certificate that cannot be read.
        ErrorKind::Client if error.source().is_some() => unavailable(TLS_SETTINGS),
        ErrorKind::AuthenticationFailed => unavailable("Redis refuses the name or password"),
        ErrorKind::Io if error.is_timeout() => unavailable("Redis does not respond in time"),
        ErrorKind::Io => match io_kind(error) {
            // That of errors of rustls.
            Some(io::ErrorKind::InvalidData) => unavailable(
                "the TLS handshake with Redis failed, or its response is invalid; check its certificate, and the trusted roots",
            ),
            Some(kind) => StoreError::Unavailable(format!("Redis cannot be reached ({kind})")),
            // Those of a missing file of certificates, and of an invalid host name.
            None => unavailable(TLS_SETTINGS),
        },
        // The client for Redis replaces the text of Redis with its own.
        _ if error.to_string().contains("refused to switch database") => StoreError::Other(
            "Redis refuses the database number of the URL; check the number, and whether the user has the command `SELECT`"
                .to_owned(),
        ),
        _ => with_code(code(error)),
    }
}

fn io_kind(error: &RedisError) -> Option<io::ErrorKind> {
    let source = error.source()?;
    let source: &Arc<dyn Error + Send + Sync> = source.downcast_ref()?;
    source.downcast_ref().map(io::Error::kind)
}

fn with_code(code: Option<&str>) -> StoreError {
    let unavailable = |reason: &str| StoreError::Unavailable(reason.to_owned());
    let other = |reason: &str| StoreError::Other(reason.to_owned());
    let is_code = |code: &&str| {
        code.len() <= CODE_BYTES && code.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let Some(code) = code.filter(is_code) else {
        return other("Redis returned an error");
    };
    match code {
        "OOM" => StoreError::Full("Redis has reached its `maxmemory`".to_owned()),
        "WRONGPASS" => unavailable("Redis refuses the name or password"),
        "READONLY" => unavailable("this Redis is a read-only copy; use the URL of the primary one"),
        "MOVED" | "ASK" => other(
            "Redis is a cluster, and the tasks of this server belong to another node; use the URL of that node",
        ),
        "NOPERM" => other(
            "the user of Redis lacks a permission; `RedisStore` lists the commands that it needs",
        ),
        "LOADING" | "CLUSTERDOWN" | "MASTERDOWN" | "TRYAGAIN"
        // The disk of Redis is full or broken, a script runs for too long, or a password is missing.
        | "MISCONF" | "BUSY" | "NOAUTH" | "NOREPLICAS" => {
            StoreError::Unavailable(format!("Redis returned the error {code}"))
        }
        _ => StoreError::Other(format!("Redis returned the error {code}")),
    }
}

/// Returns whether the connection is of no further use. After a failover, the address may be that of another server, while the
/// former primary, or one without its replicas, keeps its connections.
pub(super) fn is_broken(error: &RedisError) -> bool {
    let is_former = matches!(
        code(error),
        Some("READONLY" | "MASTERDOWN" | "MOVED" | "CLUSTERDOWN" | "NOREPLICAS")
    );
    is_former || error.is_io_error() || error.is_timeout() || error.is_unrecoverable_error()
}

pub(super) fn unexpected() -> StoreError {
    StoreError::Other("Redis returned an unexpected reply".to_owned())
}

pub(super) fn damaged() -> StoreError {
    StoreError::Other("a record is damaged".to_owned())
}

/// Returns the code of an error. Redis 6 describes that of a command in a script within the details of another, and versions before
/// 7.2 a missing permission of a script without a code.
fn code(error: &RedisError) -> Option<&str> {
    let code = error.code()?;
    let detail = error.detail().filter(|_| code == "ERR");
    let detail = detail.unwrap_or_default();
    if detail.contains("The user executing the script can't") {
        return Some("NOPERM");
    }
    let script = detail.split_once("@user_script");
    let inner = script.and_then(|(_, inner)| inner.split_once(": -"));
    inner.map_or(Some(code), |(_, error)| error.split(' ').next())
}

#[cfg(test)]
mod tests {
    use treenail_redis::internal::redis::{Value, parse_redis_value};

    use super::*;

    fn error(reply: &str) -> RedisError {
        let reply = parse_redis_value(format!("-{reply}\r\n").as_bytes()).unwrap();
        let Value::ServerError(error) = reply else {
            panic!("not an error: {reply:?}");
        };
        error.into()
    }

    #[test]
    fn errors_within_scripts_have_their_codes() {
        let script = "ERR Error running script (call to f_0): @user_script:3: ";
        for (reply, expected) in [
            (
                "READONLY You can't write against a read only replica.",
                "READONLY",
            ),
            ("ERR unknown command 'EVAL'", "ERR"),
            ("NOPERM this user has no permissions", "NOPERM"),
            // Redis 6.
            (&*format!("{script}-READONLY You can't write."), "READONLY"),
            (
                &format!("{script}@user_script: 3: -OOM command not allowed."),
                "OOM",
            ),
            (
                &format!("{script}-NOREPLICAS Not enough good replicas to write."),
                "NOREPLICAS",
            ),
            (
                &format!("{script}-MISCONF Redis is configured to: -save"),
                "MISCONF",
            ),
            (
                &format!(
                    "{script}The user executing the script can't run this command or subcommand"
                ),
                "NOPERM",
            ),
            (&format!("{script}attempt to index a nil value"), "ERR"),
            // Redis 7.0.
            (
                "ERR The user executing the script can't run this command or subcommand script: 0, on @user_script:3.",
                "NOPERM",
            ),
        ] {
            assert_eq!(code(&error(reply)), Some(expected), "{reply}");
        }
        let demoted = error(&format!("{script}-READONLY You can't write."));
        let reason = "this Redis is a read-only copy; use the URL of the primary one";
        assert_eq!(
            store_error(&demoted),
            StoreError::Unavailable(reason.to_owned())
        );
    }

    #[test]
    fn a_connection_to_a_former_primary_is_left() {
        for (reply, is_left) in [
            (
                "READONLY You can't write against a read only replica.",
                true,
            ),
            (
                "ERR Error running script (call to f_0): @user_script:3: -READONLY You can't write.",
                true,
            ),
            ("MASTERDOWN Link with MASTER is down.", true),
            ("MOVED 8151 127.0.0.1:6380", true),
            ("CLUSTERDOWN The cluster is down", true),
            ("NOREPLICAS Not enough good replicas to write.", true),
            ("OOM command not allowed.", false),
            ("ERR unknown command 'EVAL'", false),
        ] {
            assert_eq!(is_broken(&error(reply)), is_left, "{reply}");
        }
    }

    #[test]
    fn errors_of_tls_are_distinct_from_those_of_the_network() {
        for (kind, expected) in [
            (
                io::ErrorKind::InvalidData,
                "the TLS handshake with Redis failed",
            ),
            (
                io::ErrorKind::NotFound,
                "Redis cannot be reached (entity not found)",
            ),
        ] {
            let message = store_error(&io::Error::new(kind, "secret").into()).to_string();
            assert!(message.contains(expected), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn texts_of_redis_are_not_in_messages() {
        for reply in ["ERR secret", "secret", "ERR @user_script:1: -secret"] {
            let message = store_error(&error(reply)).to_string();
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
