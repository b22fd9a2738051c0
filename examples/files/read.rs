//! `files.read`

use std::io::Read;

use treenail::mcp_type;

use super::{Directory, FilesError, MAX_FILE_BYTES, truncate_text};

/// Maximum size of the text in one result.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// Lines of a text file.
#[mcp_type]
#[derive(Debug, PartialEq)]
pub(crate) struct Page {
    /// Path of the file
    pub(crate) path: String,
    /// Number of the first line returned
    pub(crate) first_line: usize,
    /// Number of the last line returned; 0 if the file is empty
    pub(crate) last_line: usize,
    /// Lines in the whole file
    pub(crate) total_lines: usize,
    /// The lines, with their line ends
    pub(crate) text: String,
    /// True if the requested lines do not fit into one result; continue after `last_line`
    pub(crate) truncated: bool,
}

impl Directory {
    pub(crate) fn read(
        &self,
        path: &str,
        first_line: usize,
        last_line: Option<usize>,
    ) -> Result<Page, FilesError> {
        if let Some(last) = last_line.filter(|last| *last < first_line) {
            return Err(FilesError::EmptyRange {
                first: first_line,
                last,
            });
        }
        let bytes = self.read_all(path)?;
        if bytes.contains(&0) {
            return Err(FilesError::Binary(path.to_owned()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if first_line > lines.len().max(1) {
            let path = path.to_owned();
            return Err(FilesError::PastTheEnd {
                path,
                first: first_line,
                total: lines.len(),
            });
        }
        let last_line = last_line.unwrap_or(usize::MAX).min(lines.len());
        Ok(page_of(path, &lines, first_line, last_line))
    }

    fn read_all(&self, path: &str) -> Result<Vec<u8>, FilesError> {
        let mut bytes = Vec::new();
        // The file may have grown since its size was checked.
        let mut file = self.open_file(path)?.take(MAX_FILE_BYTES);
        file.read_to_end(&mut bytes)
            .map_err(|source| FilesError::from_io(path, source))?;
        Ok(bytes)
    }
}

/// Returns as many of the requested lines as fit into one result, or the start of the first line if it is too long.
fn page_of(path: &str, lines: &[&str], first_line: usize, last_line: usize) -> Page {
    let requested = &lines[first_line - 1..last_line];
    let mut bytes = 0;
    let fitting = requested.iter().take_while(|line| {
        bytes += line.len();
        bytes <= MAX_TEXT_BYTES
    });
    let returned = &requested[..fitting.count().max(1).min(requested.len())];
    let text = returned.concat();
    let truncated = returned.len() < requested.len() || text.len() > MAX_TEXT_BYTES;
    Page {
        path: path.to_owned(),
        first_line,
        last_line: first_line - 1 + returned.len(),
        total_lines: lines.len(),
        text: truncate_text(&text, MAX_TEXT_BYTES).to_owned(),
        truncated,
    }
}
