//! `files.search`

use std::io::{self, Read};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use treenail::mcp_type;

use super::filter::PathFilter;
use super::{Directory, FilesError, MAX_FILE_BYTES, truncate_text};

/// Maximum number of bytes that one search reads.
const MAX_SEARCH_BYTES: u64 = 256 << 20;

/// Maximum memory of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Maximum size of a returned line.
const MAX_LINE_BYTES: usize = 500;

/// Lines that match, sorted by path and line.
#[mcp_type]
#[derive(Debug, PartialEq, Default)]
pub(crate) struct Found {
    /// The lines that match
    pub(crate) matches: Vec<MatchedLine>,
    /// True if there may be more matches; narrow the pattern or the glob, or raise the limit
    pub(crate) truncated: bool,
    /// Number of searched files
    pub(crate) files_searched: usize,
    /// Number of files that were skipped because they are binary, too large or not readable
    pub(crate) files_skipped: usize,
}

/// One line that matches.
#[mcp_type]
#[derive(Debug, PartialEq)]
pub(crate) struct MatchedLine {
    /// Path for `files.read`
    pub(crate) path: String,
    /// Number of the line, from 1
    pub(crate) line: u64,
    /// The line without its line end; a long line is truncated and ends with `…`
    pub(crate) text: String,
}

impl Directory {
    /// Searches until the limit is reached or `stop` returns true, because the call was cancelled.
    pub(crate) fn search(
        &self,
        pattern: &str,
        glob: Option<&str>,
        limit: usize,
        stop: impl Fn() -> bool,
    ) -> Result<Found, FilesError> {
        let filter = PathFilter::new(glob)?;
        let mut search = Search::new(pattern, limit)?;
        let mut walk = self.walk("")?;
        for path in walk.by_ref().filter(|path| filter.accepts(path)) {
            if stop() {
                search.found.truncated = true;
                break;
            }
            match search.search_file(self, &path) {
                Ok(()) => search.found.files_searched += 1,
                Err(_) => search.found.files_skipped += 1,
            }
            if search.found.truncated {
                break;
            }
        }
        search.found.truncated |= walk.is_truncated();
        Ok(search.found)
    }
}

/// Search in progress.
struct Search {
    pattern: RegexMatcher,
    searcher: Searcher,
    limit: usize,
    bytes_left: u64,
    found: Found,
}

impl Search {
    fn new(pattern: &str, limit: usize) -> Result<Self, FilesError> {
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .build();
        let pattern = compile_pattern(pattern)?;
        let found = Found::default();
        Ok(Self {
            pattern,
            searcher,
            limit,
            bytes_left: MAX_SEARCH_BYTES,
            found,
        })
    }

    /// Adds the matches in one file. A binary file has none, even before its first zero byte.
    fn search_file(&mut self, directory: &Directory, path: &str) -> Result<(), FilesError> {
        let found_before = self.found.matches.len();
        let mut file = directory.open_file(path)?.take(MAX_FILE_BYTES);
        let mut lines = MatchSink {
            path,
            limit: self.limit,
            found: &mut self.found,
            binary: false,
        };
        let searched = self
            .searcher
            .search_reader(&self.pattern, &mut file, &mut lines);
        let binary = lines.binary;

        let bytes_read = MAX_FILE_BYTES - file.limit();
        self.bytes_left = self.bytes_left.saturating_sub(bytes_read);
        self.found.truncated |= self.bytes_left == 0;
        if binary {
            self.found.matches.truncate(found_before);
            return Err(FilesError::Binary(path.to_owned()));
        }
        searched.map_err(|source| FilesError::from_io(path, source))
    }
}

fn compile_pattern(pattern: &str) -> Result<RegexMatcher, FilesError> {
    RegexMatcherBuilder::new()
        // `^` and `$` match at both kinds of line ends.
        .multi_line(true)
        .crlf(true)
        .size_limit(MAX_PATTERN_BYTES)
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build(pattern)
        .map_err(|source| FilesError::Pattern {
            pattern: pattern.to_owned(),
            source,
        })
}

/// Sink for the matches in one file.
struct MatchSink<'a> {
    path: &'a str,
    limit: usize,
    found: &'a mut Found,
    binary: bool,
}

impl Sink for MatchSink<'_> {
    type Error = io::Error;

    /// Stops at the first match beyond the limit, which proves that the result is truncated.
    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.matches.len() == self.limit {
            self.found.truncated = true;
            return Ok(false);
        }
        self.found.matches.push(MatchedLine {
            path: self.path.to_owned(),
            line: line.line_number().unwrap_or_default(),
            text: match_text(line.bytes()),
        });
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}

/// Returns the text of a line in a result.
fn match_text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\r', '\n']);
    let start = truncate_text(text, MAX_LINE_BYTES);
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("{start}{cut}")
}
