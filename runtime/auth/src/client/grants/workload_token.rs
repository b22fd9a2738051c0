//! Token that a platform issues to a program.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::client::settings::CallerFuture;
use crate::{AuthError, Secret};

/// Maximum length of a token, in bytes.
const MAX: usize = 16 * 1024;

/// Source of the token that a platform, such as Kubernetes or a cloud, issues to this program: a JWT that it renews.
///
/// The token is read again for each request to the authorization server. It must be issued for that server; its audience is not
/// checked here.
///
/// ```
/// use treenail::auth::{ClientCredentials, OAuth, WorkloadToken};
///
/// let client = ClientCredentials::public("planner").issuer("https://auth.example.com");
/// let token = WorkloadToken::file("/var/run/secrets/tokens/mcp");
/// let oauth = OAuth::workload(client, token);
/// # let _ = oauth;
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone)]
pub struct WorkloadToken(Source);

#[derive(Clone)]
enum Source {
    File(PathBuf),
    Function(Arc<dyn Fn() -> CallerFuture<Result<Secret, AuthError>> + Send + Sync>),
}

impl WorkloadToken {
    /// Returns a source that reads a file of at most 16 KiB.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Source::File(path.into()))
    }

    /// Returns a source that calls a function.
    pub fn function<F, R>(function: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Secret, AuthError>> + Send + 'static,
    {
        Self(Source::Function(Arc::new(move || Box::pin(function()))))
    }

    /// Returns the current token.
    pub(super) async fn read(&self) -> Result<Secret, AuthError> {
        let token = match &self.0 {
            Source::Function(function) => function().await?,
            Source::File(path) => {
                let path = path.clone();
                let joined = tokio::task::spawn_blocking(move || read_file(&path)).await;
                let ended = |_| AuthError::Unavailable("the runtime has ended".into());
                joined.map_err(ended)??
            }
        };
        let text = token.expose();
        let is_token =
            (1..=MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_token {
            return Ok(token);
        }
        let reason = format!(
            "the token of the platform is not a text of 1 to {MAX} visible ASCII characters"
        );
        Err(AuthError::invalid(reason))
    }
}

impl fmt::Debug for WorkloadToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::File(path) => formatter.debug_tuple("WorkloadToken").field(path).finish(),
            Source::Function(_) => formatter.write_str("WorkloadToken(function)"),
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, AuthError> {
    let failed = |error: std::io::Error| {
        let path = path.display();
        let reason = format!("could not read the token of the platform in {path}: {error}");
        AuthError::Unavailable(reason.into())
    };
    let file = File::open(path).map_err(failed)?;
    // The capacity suffices, so that no reallocation leaves a copy of the token.
    let mut bytes = Vec::with_capacity(MAX + 2);
    let limit = MAX as u64 + 2;
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    let bytes = zeroize::Zeroizing::new(bytes);
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    Ok(Secret::from(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // AUTH-C-158
    #[tokio::test]
    async fn a_file_is_read_again_each_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        let token = WorkloadToken::file(&path);
        assert!(token.read().await.is_err());
        for text in ["first", "second"] {
            std::fs::write(&path, format!("{text}\n")).expect("written");
            assert_eq!(token.read().await.expect("a token").expose(), text);
        }
        for text in ["", "canary\nX-Evil: 1", &"x".repeat(MAX + 1)] {
            std::fs::write(&path, text).expect("written");
            let error = token.read().await.expect_err("refused").to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
