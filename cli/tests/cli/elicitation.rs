//! Elicitation requests without a terminal.

use std::process::Stdio;

use crate::process::{command, outcome_of, repository_example, run};

/// Revisions with elicitation.
const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

#[test]
fn requests_are_declined_with_a_note() {
    for revision in REVISIONS {
        let output = run(&["call", "book", "-q", "--protocol-version", revision]);
        assert_eq!((output.code, &*output.stdout), (1, ""), "{revision}");
        let expected = "declined a request from `test ␛[1mserver` (\"Who stays?␛[1m\"): `name`: missing; expected a string; ";
        assert!(
            output.stderr.starts_with(expected),
            "CLI-ELI-07: {revision}: {}",
            output.stderr
        );
        assert!(
            output
                .stderr
                .contains("(use --answer)\nerror: the tool failed: "),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn forms_are_filled_in_from_the_command_line() {
    for revision in REVISIONS {
        let args = ["call", "book", "--protocol-version", revision];
        let answers = [
            "--answer",
            "name=Ada",
            "--answer",
            "room=double room",
            "--answer",
            "note=a=b",
        ];
        let output = run(&[&args[..], &answers].concat());
        output.check(0, "Ada, 2 nights, double, note: a=b\n", "");
    }
    let wrong = [
        "--answer",
        "name=Ada",
        "--answer",
        "room=attic",
        "--answer",
        "nights=40",
    ];
    let output = run(&[&["call", "book"][..], &wrong].concat());
    assert_eq!(output.code, 1);
    for problem in [
        "`nights`: expected an integer (1 to 30), got 40",
        "`room`: expected one of `Single`, `double`, got the string \"attic\"",
    ] {
        assert!(
            output.stderr.contains(problem),
            "CLI-ELI-13: {}",
            output.stderr
        );
    }
}

#[test]
fn confirmation_requires_the_flag() {
    let declined = run(&["call", "erase"]);
    assert_eq!((declined.code, &*declined.stdout), (1, ""));
    assert!(
        declined.stderr.contains("--yes is not set"),
        "{}",
        declined.stderr
    );
    let note = "confirmed request from `test ␛[1mserver`: Erase everything?\n";
    run(&["call", "erase", "--yes"]).check(0, "erased\n", note);
}

#[test]
fn urls_are_accepted_by_host() {
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
         The server asks you to open a page:\n  \
         host: xn--e1afmkfd.example\n  \
         page: http://shop@xn--e1afmkfd.example/pay?id=1\n  \
         warning: the connection is not encrypted\n  \
         warning: the host may contain look-alike characters (Punycode)\n  \
         warning: the text before `@` is not the host\n",
    );
}

#[test]
fn example_booking_is_answered() {
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
    let output = outcome_of(call.stdin(Stdio::null()).output().unwrap());
    assert_eq!(
        (output.code, &*output.stdout),
        (0, "Ada has a room in Oslo for 3 nights\n")
    );
}
