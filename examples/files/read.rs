//! `files.read`

use std::io::Read;

use treenail::mcp_type;

use super::{Directory, FilesError, MAX_FILE_BYTES, start_of};

/// More text is not returned by one call.
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
    /// True if not everything asked for fits into one answer; go on after `last_line`
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
        Ok(page(path, &lines, first_line, last_line))
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

/// As many of the wanted lines as one answer holds; if not even the first, the start of that.
fn page(path: &str, lines: &[&str], first_line: usize, last_line: usize) -> Page {
    let wanted = &lines[first_line - 1..last_line];
    let mut bytes = 0;
    let fitting = wanted.iter().take_while(|line| {
        bytes += line.len();
        bytes <= MAX_TEXT_BYTES
    });
    let returned = &wanted[..fitting.count().max(1).min(wanted.len())];
    let text = returned.concat();
    let truncated = returned.len() < wanted.len() || text.len() > MAX_TEXT_BYTES;
    Page {
        path: path.to_owned(),
        first_line,
        last_line: first_line - 1 + returned.len(),
        total_lines: lines.len(),
        text: start_of(&text, MAX_TEXT_BYTES).to_owned(),
        truncated,
    }
}
