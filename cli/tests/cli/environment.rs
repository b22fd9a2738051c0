//! The environment of servers that are started.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::chat::alone;
use crate::fake::{Endpoint, Reply};
use crate::run::{command, ended, run_alone, test_server};

/// Value of the variable `SECRET` of this program, as a server sees it.
fn seen(args: &[&str]) -> String {
    let args = [&["call", "variable", "name=SECRET"], args].concat();
    let mut command = command(&test_server(), &args);
    command.arg("environment").env("SECRET", "s3cret");
    let ended = ended(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    ended.stdout
}

#[test]
fn servers_inherit_no_secrets() {
    assert_eq!(seen(&[]), "none\n");
    assert_eq!(seen(&["--inherit-env"]), "s3cret\n");
    assert_eq!(seen(&["--env", "SECRET"]), "s3cret\n");
    assert_eq!(seen(&["--env", "SECRET=a=b"]), "a=b\n");
    assert_eq!(seen(&["--inherit-env", "--env", "SECRET="]), "");
}

#[test]
fn variables_that_cannot_be_given_are_named() {
    let server = test_server();
    let run = |given: &str| {
        let mut command = command(&server, &["list", "--env", given]);
        command.env_remove("NO_SUCH_VARIABLE");
        ended(command.stdin(Stdio::null()).output().unwrap())
    };
    let unset = "error: the variable `NO_SUCH_VARIABLE` for --env is not set\n";
    run("NO_SUCH_VARIABLE").check(2, "", unset);
    let nameless = "error: --env `=x` is not like `NAME=VALUE` or `NAME`\n";
    run("=x").check(2, "", nameless);
    let over_http = run_alone(&["list", "--env", "A=b", "--url", "http://127.0.0.1:1/mcp"]);
    assert_eq!(over_http.code, 2, "{}", over_http.stderr);
}

/// Value of a variable, as a server sees it during a chat that has secrets of its own.
fn seen_in_chat(variable: &str, args: &[&str]) -> String {
    let arguments = format!(r#"{{"name": "{variable}"}}"#);
    let endpoint = Endpoint::start([
        Reply::calls(&[("c1", "variable", &arguments)]),
        Reply::text("Done."),
    ]);
    let mut command = alone(&["--base-url", &endpoint.url, "--key-env", "MODEL_KEY"]);
    give_server(&mut command, &test_server());
    command.args(args).args(["--approve=test", "hi"]);
    command
        .env("OPENAI_API_KEY", "sk-usual")
        .env("MODEL_KEY", "sk-model")
        .env("PLAIN", "plain");
    let ended = ended(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    endpoint.asked();
    let asked = endpoint.asked();
    crate::chat::last_message(&asked)["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn give_server(command: &mut Command, server: &Path) {
    command.arg(format!("--server=test='{}' environment", server.display()));
}

#[test]
fn a_chat_gives_its_keys_to_no_server() {
    for variable in ["OPENAI_API_KEY", "MODEL_KEY", "PLAIN"] {
        assert_eq!(seen_in_chat(variable, &[]), "none", "{variable}");
    }
    // Keys stay here even if all the rest is handed over.
    let inherit = ["--inherit-env", "test"];
    assert_eq!(seen_in_chat("PLAIN", &inherit), "plain");
    for variable in ["OPENAI_API_KEY", "MODEL_KEY"] {
        assert_eq!(seen_in_chat(variable, &inherit), "none", "{variable}");
    }
    // A variable that is named is given.
    let named = ["--env", "test:OPENAI_API_KEY"];
    assert_eq!(seen_in_chat("OPENAI_API_KEY", &named), "sk-usual");
    let set = ["--env", "test:PLAIN=b:c"];
    assert_eq!(seen_in_chat("PLAIN", &set), "b:c");
}

#[test]
fn the_environment_of_no_server_is_refused() {
    for args in [["--env", "other:A=b"], ["--inherit-env", "other"]] {
        let args = [&["--base-url", "http://localhost", "hi"][..], &args].concat();
        let ended = ended(alone(&args).stdin(Stdio::null()).output().unwrap());
        ended.check(2, "", "error: there is no server `other`\n");
    }
}
