//! `files.list`

use treenail::mcp_type;

use super::filter::PathFilter;
use super::{Directory, FilesError};

/// Files, sorted by path.
#[mcp_type]
#[derive(Debug, PartialEq)]
pub(crate) struct Listing {
    /// The requested files
    pub(crate) files: Vec<Listed>,
    /// True if there are more files; narrow the path or the glob, or raise the limit
    pub(crate) truncated: bool,
}

/// A file in a listing.
#[mcp_type]
#[derive(Debug, PartialEq)]
pub(crate) struct Listed {
    /// Path for `files.read`
    pub(crate) path: String,
    /// Size in bytes
    pub(crate) bytes: u64,
}

impl Directory {
    pub(crate) fn list(
        &self,
        path: &str,
        glob: Option<&str>,
        limit: usize,
    ) -> Result<Listing, FilesError> {
        let filter = PathFilter::new(glob)?;
        let mut walk = self.walk(path)?;
        let mut files = Vec::new();
        for path in walk.by_ref().filter(|path| filter.accepts(path)) {
            // Metadata is read through the handle, so a file is listed only if it still exists inside the directory.
            let Ok(metadata) = self.root.symlink_metadata(&path) else {
                continue;
            };
            if files.len() == limit {
                return Ok(Listing {
                    files,
                    truncated: true,
                });
            }
            files.push(Listed {
                path,
                bytes: metadata.len(),
            });
        }
        Ok(Listing {
            files,
            truncated: walk.is_truncated(),
        })
    }
}
