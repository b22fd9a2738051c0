//! Questions of the server where nobody sits at a terminal.

use std::process::Stdio;

use crate::run::{command, ended, repository_example, run};

/// The revisions in which users can be asked.
const ASKING: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

#[test]
fn without_a_terminal_questions_are_declined_and_that_is_said() {
    for revision in ASKING {
        let shown = run(&["call", "book", "-q", "--protocol-version", revision]);
        assert_eq!((shown.code, &*shown.stdout), (1, ""), "{revision}");
        let expected = "declined what `test ␛[1mserver` asks (\"Who stays?␛[1m\"): `name`: missing; expected a string; ";
        assert!(
            shown.stderr.starts_with(expected),
            "CLI-ELI-07: {revision}: {}",
            shown.stderr
        );
        assert!(
            shown
                .stderr
                .contains("(see --answer)\nerror: the tool failed: "),
            "{}",
            shown.stderr
        );
    }
}

#[test]
fn forms_are_filled_in_from_the_command_line() {
    for revision in ASKING {
        let args = ["call", "book", "--protocol-version", revision];
        let answers = [
            "--answer",
            "name=Ada",
            "--answer",
            "room=double room",
            "--answer",
            "note=a=b",
        ];
        let shown = run(&[&args[..], &answers].concat());
        shown.check(0, "Ada, 2 nights, double, note: a=b\n", "");
    }
    let wrong = [
        "--answer",
        "name=Ada",
        "--answer",
        "room=attic",
        "--answer",
        "nights=40",
    ];
    let shown = run(&[&["call", "book"][..], &wrong].concat());
    assert_eq!(shown.code, 1);
    for problem in [
        "`nights`: expected an integer (1 to 30), got 40",
        "`room`: expected one of `Single`, `double`, got the string \"attic\"",
    ] {
        assert!(
            shown.stderr.contains(problem),
            "CLI-ELI-13: {}",
            shown.stderr
        );
    }
}

#[test]
fn confirming_takes_a_yes() {
    let declined = run(&["call", "erase"]);
    assert_eq!((declined.code, &*declined.stdout), (1, ""));
    assert!(
        declined.stderr.contains("there is no --yes"),
        "{}",
        declined.stderr
    );
    let note = "said yes to `test ␛[1mserver`: Erase everything?\n";
    run(&["call", "erase", "--yes"]).check(0, "erased\n", note);
}

#[test]
fn pages_are_agreed_to_by_their_host() {
    let other = ["call", "pay", "--yes", "--accept-page", "example.com"];
    let declined = run(&other);
    assert_eq!(declined.code, 1, "CLI-ELI-10");
    let page = "the page http://shop@xn--e1afmkfd.example/pay?id=1";
    assert!(
        declined.stderr.contains(page),
        "CLI-ELI-11: {}",
        declined.stderr
    );

    run(&["call", "pay", "--accept-page", "xn--e1afmkfd.example"]).check(
        0,
        "paid\n",
        "\n`test ␛[1mserver` asks: Pay first\n\
         It wants you to open a page:\n  \
         host: xn--e1afmkfd.example\n  \
         page: http://shop@xn--e1afmkfd.example/pay?id=1\n  \
         beware: the connection is not encrypted\n  \
         beware: the host has letters that may look like others (Punycode)\n  \
         beware: what stands before `@` is not the host\n",
    );
}

#[test]
fn the_example_that_books_is_answered() {
    let answers = [
        "--answer",
        "name=Ada",
        "--answer",
        "nights=3",
        "--accept-page",
        "example.com",
    ];
    let args = [&["call", "book", "city=Oslo", "-q"][..], &answers].concat();
    let mut call = command(&repository_example("booking"), &args);
    let shown = ended(call.stdin(Stdio::null()).output().unwrap());
    assert_eq!(
        (shown.code, &*shown.stdout),
        (0, "Ada has a room in Oslo for 3 nights\n")
    );
}
