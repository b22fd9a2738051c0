//! Listing and searching.

use super::{create_tree, describe_error};
use crate::directory::{Directory, FilesError};

/// Returns the listed paths, or the error; `…` if the list is truncated.
fn list(directory: &Directory, path: &str, glob: Option<&str>, limit: usize) -> String {
    match directory.list(path, glob, limit) {
        Ok(listing) => {
            let mut words: Vec<_> = listing.files.into_iter().map(|file| file.path).collect();
            words.extend(listing.truncated.then(|| "…".to_owned()));
            words.join(" ")
        }
        Err(error) => describe_error(&error),
    }
}

/// Returns the matches, or the error; `…` if the result is truncated.
fn search(directory: &Directory, pattern: &str, glob: Option<&str>, limit: usize) -> Vec<String> {
    match directory.search(pattern, glob, limit, || false) {
        Ok(found) => {
            let matches = found.matches.into_iter();
            let lines = matches.map(|line| format!("{}:{}:{}", line.path, line.line, line.text));
            lines
                .chain(found.truncated.then(|| "…".to_owned()))
                .collect()
        }
        Err(error) => vec![describe_error(&error)],
    }
}

#[test]
fn visible_files_are_listed_in_order() {
    let (_tree, directory) = create_tree();
    let all = "a.txt binary.dat empty.txt keep.log latin1.txt sub/b.log sub/deep/d.rs";
    let cases = [
        ("", None, 7, all),
        (".", None, 2, "a.txt binary.dat …"),
        ("sub", None, 9, "sub/b.log sub/deep/d.rs"),
        ("./sub/deep/", None, 9, "sub/deep/d.rs"),
        ("", Some("*.rs"), 9, "sub/deep/d.rs"),
        ("", Some("sub/*"), 9, "sub/b.log"),
        ("", Some("sub/**"), 9, "sub/b.log sub/deep/d.rs"),
        ("", Some("{a,e}*.txt"), 1, "a.txt …"),
        ("", Some("none"), 9, ""),
        // An ignored directory is listed if the caller names it; its own rules apply.
        ("build", None, 9, "build/out.txt"),
        (
            "a.txt",
            None,
            9,
            "NotADirectory: `a.txt` is not a directory; read it with `files.read`",
        ),
        (
            "no",
            None,
            9,
            "NotFound: `no` does not exist; use `files.list` to see existing paths",
        ),
        ("", Some("["), 9, "Glob: `[` is not a valid glob"),
    ];
    for (path, glob, limit, expected) in cases {
        assert_eq!(
            list(&directory, path, glob, limit),
            expected,
            "{path} {glob:?}"
        );
    }
}

#[test]
fn sizes_are_listed() {
    let (_tree, directory) = create_tree();
    let listing = directory.list("", Some("*.txt"), 9).unwrap();
    let sizes: Vec<_> = listing.files.iter().map(|file| file.bytes).collect();
    assert_eq!(sizes, [21, 0, 12]);
}

#[test]
fn matches_are_found_in_order() {
    let (_tree, directory) = create_tree();
    let [two, latin1, rust] = [
        "a.txt:2:two needle",
        "latin1.txt:1:caf\u{fffd} needle",
        "sub/deep/d.rs:1:fn needle() {}",
    ];
    let cases: [(&str, Option<&str>, usize, &[&str]); 9] = [
        ("needle", None, 3, &[two, latin1, rust]),
        ("needle", None, 2, &[two, latin1, "…"]),
        ("^two needle$", None, 9, &[two]),
        ("^one$", None, 9, &["a.txt:1:one"]),
        ("^three$", None, 9, &["a.txt:3:three"]),
        ("e", Some("a.txt"), 2, &["a.txt:1:one", two, "…"]),
        ("(?i)NEEDLE", Some("*.rs"), 9, &[rust]),
        ("needle", Some("none"), 9, &[]),
        (
            "needle",
            Some("{a,b"),
            9,
            &["Glob: `{a,b` is not a valid glob"],
        ),
    ];
    for (pattern, glob, limit, expected) in cases {
        assert_eq!(
            search(&directory, pattern, glob, limit),
            expected,
            "{pattern} {glob:?}"
        );
    }
}

#[test]
fn skipped_files_are_counted() {
    let (_tree, directory) = create_tree();
    let found = directory.search("needle", None, 9, || false).unwrap();
    assert_eq!((found.files_searched, found.files_skipped), (6, 1));
}

#[test]
fn cancelled_search_stops() {
    let (_tree, directory) = create_tree();
    let found = directory.search("needle", None, 9, || true).unwrap();
    assert_eq!((found.files_searched, found.truncated), (0, true));
}

#[test]
fn patterns_are_limited_to_one_line_and_in_size() {
    let (_tree, directory) = create_tree();
    for pattern in ["(", "a\nb", r"\w{1000}{1000}"] {
        let error = directory.search(pattern, None, 1, || false).unwrap_err();
        assert!(
            matches!(error, FilesError::Pattern { .. }),
            "{pattern}: {error:?}"
        );
    }
}
