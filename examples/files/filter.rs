//! Which paths a caller wants.

use globset::{GlobBuilder, GlobMatcher};

use super::error::FilesError;

/// A glob, or everything.
pub(super) enum PathFilter {
    Everything,
    /// A glob without `/` is about the name of a file, in whatever directory.
    Name(GlobMatcher),
    Path(GlobMatcher),
}

impl PathFilter {
    pub(super) fn new(glob: Option<&str>) -> Result<Self, FilesError> {
        let Some(glob) = glob else {
            return Ok(Self::Everything);
        };
        let matcher = GlobBuilder::new(glob)
            .literal_separator(true)
            .build()
            .map_err(|source| FilesError::Glob {
                glob: glob.to_owned(),
                source,
            })?
            .compile_matcher();
        let about_names = !glob.contains('/');
        Ok(if about_names {
            Self::Name(matcher)
        } else {
            Self::Path(matcher)
        })
    }

    pub(super) fn accepts(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Name(glob) => glob.is_match(path.rsplit('/').next().unwrap_or(path)),
            Self::Path(glob) => glob.is_match(path),
        }
    }
}
