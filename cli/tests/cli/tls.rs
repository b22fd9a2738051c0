//! Certificates, and Unix sockets.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::http::HttpServer;
use crate::process::{Outcome, outcome_of, run, run_alone};

/// Server that requires a client certificate, and the folder with the files.
struct Secured {
    server: HttpServer,
    folder: TempDir,
}

impl Secured {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = HttpServer::start_with(&["secured", folder.path().to_str().unwrap()]);
        Self { server, folder }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn add(&self, options: &[&str]) -> Outcome {
        let call = ["call", "add", "a=1", "b=2", "--url", &self.server.url];
        run_alone(&[&call, options].concat())
    }
}

#[test]
fn a_server_may_require_a_client_certificate() {
    let secured = Secured::start();
    let [ca, certificate, key, both] =
        ["ca.pem", "client.pem", "client.key", "both.pem"].map(|name| secured.file(name));
    let all = [
        "--ca-cert",
        &ca,
        "--client-cert",
        &certificate,
        "--client-key",
        &key,
    ];
    secured.add(&all).check(0, "3\n", "");
    let one_file = ["--ca-cert", &ca, "--client-cert", &both];
    secured.add(&one_file).check(0, "3\n", "");
    for (options, expected) in [
        (&[][..], "`--ca-cert FILE` trusts a private authority"),
        (
            &["--ca-cert", &ca],
            "`--client-cert FILE --client-key FILE`",
        ),
    ] {
        let outcome = secured.add(options);
        assert_eq!(outcome.code, 3, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    let swapped = secured.add(&["--ca-cert", &key]);
    assert_eq!(swapped.code, 2, "{}", swapped.stderr);
    let expected =
        format!("certificate authorities in `{key}`: there is no certificate, but `PRIVATE KEY`");
    assert!(swapped.stderr.contains(&expected), "{}", swapped.stderr);
}

#[test]
fn files_of_a_configured_server_are_used_by_a_proxy() {
    let secured = Secured::start();
    let config = secured.file("mcp.json");
    let servers = json!({"mcpServers": {"secured": {
        "url": secured.server.url,
        "tls": {"caCert": secured.file("ca.pem"), "clientCert": secured.file("both.pem")},
    }}});
    fs::write(&config, servers.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    command.args(["call", "secured.add", "a=1", "b=2", "--"]);
    command.args([env!("CARGO_BIN_EXE_treenail"), "proxy", "--config", &config]);
    let outcome = outcome_of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (0, "3\n"),
        "{}",
        outcome.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_server_may_be_at_a_unix_socket() {
    let secured = Secured::start();
    let socket = secured.file("mcp.sock");
    let call = ["call", "add", "a=1", "b=2", "--url", "http://localhost/mcp"];
    let socket = ["--unix-socket", &socket];
    let ca = secured.file("ca.pem");
    let authority = ["--ca-cert", &ca];
    run_alone(&[&call[..], &socket].concat()).check(0, "3\n", "");
    run_alone(&[&call[..], &socket, &authority].concat()).check(0, "3\n", "");
}

#[test]
fn a_client_certificate_needs_https() {
    let url = "http://localhost/mcp";
    let outcome = run_alone(&["list", "--url", url, "--client-cert", "client.pem"]);
    let expected = "error: a client certificate needs a URL with `https`\n";
    outcome.check(2, "", expected);
}

#[test]
fn the_options_are_for_servers_over_http() {
    let outcome = run(&["list", "--ca-cert", "ca.pem"]);
    let expected =
        "error: the options for TLS and sockets are for servers over HTTP; give one with `--url`\n";
    outcome.check(2, "", expected);
}
