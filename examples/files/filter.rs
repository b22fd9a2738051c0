//! Filtering of paths by a glob.

use globset::{GlobBuilder, GlobMatcher};

use super::error::FilesError;

/// Optional glob.
pub(super) enum PathFilter {
    Everything,
    /// A glob without `/` matches the file name, in any directory.
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
        let is_name_glob = !glob.contains('/');
        Ok(if is_name_glob {
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
