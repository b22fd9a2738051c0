//! Ranges of lines.

use std::fs;

use super::{create_tree, describe_error};

#[test]
fn range_of_lines_is_read() {
    let (_tree, directory) = create_tree();
    let read = |path, first, last| {
        directory
            .read(path, first, last)
            .map(|page| (page.text, page.first_line, page.last_line, page.total_lines))
            .map_err(|error| describe_error(&error))
    };
    let ok = |text: &str, first, last, total| Ok((text.to_owned(), first, last, total));
    assert_eq!(
        read("a.txt", 1, None),
        ok("one\ntwo needle\r\nthree", 1, 3, 3)
    );
    assert_eq!(read("./a.txt", 2, Some(2)), ok("two needle\r\n", 2, 2, 3));
    assert_eq!(read("a.txt", 3, Some(99)), ok("three", 3, 3, 3));
    assert_eq!(read("empty.txt", 1, None), ok("", 1, 0, 0));
    assert_eq!(
        read("latin1.txt", 1, None),
        ok("caf\u{fffd} needle\n", 1, 1, 1)
    );
    assert_eq!(read(".hidden", 1, None), ok("needle\n", 1, 1, 1));

    let error = |text: &str| Err(text.to_owned());
    let past_the_end = "PastTheEnd: `a.txt` has 3 lines, but `first_line` is 4";
    assert_eq!(read("a.txt", 4, None), error(past_the_end));
    let empty = "EmptyRange: `last_line` (1) is before `first_line` (2)";
    assert_eq!(read("a.txt", 2, Some(1)), error(empty));
}

#[test]
fn result_is_limited_in_size() {
    let (tree, directory) = create_tree();
    let write = |text: &str| fs::write(tree.path().join("root/long.txt"), text).unwrap();
    let long = "ä".repeat(100 << 10);

    write(&format!("{long}\n{long}\n"));
    let page = directory.read("long.txt", 1, None).unwrap();
    assert_eq!(
        (page.text.len(), page.last_line, page.truncated),
        ((200 << 10) + 1, 1, true)
    );
    let page = directory
        .read("long.txt", page.last_line + 1, None)
        .unwrap();
    assert_eq!(
        (page.text.len(), page.last_line, page.truncated),
        ((200 << 10) + 1, 2, false)
    );

    write(&format!("x{long}{long}\nend\n"));
    let page = directory.read("long.txt", 1, None).unwrap();
    assert_eq!(
        (page.text.len(), page.last_line, page.truncated),
        ((256 << 10) - 1, 1, true)
    );

    let found = directory.search("^x", None, 1, || false).unwrap();
    assert_eq!(found.matches[0].text, format!("x{}…", "ä".repeat(249)));
}
