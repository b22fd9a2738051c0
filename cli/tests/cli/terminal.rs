//! Elicitation and progress at a pseudo-terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::process::{command, test_server};

/// Program that runs at a pseudo-terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    output: Receiver<String>,
    seen: String,
}

impl Terminal {
    fn call(args: &[&str]) -> Self {
        let call = command(&test_server(), &[&["call"], args].concat());
        Self::start(call, |_| Stdio::piped())
    }

    /// Runs a command with standard output at the terminal, too.
    pub(crate) fn run(command: Command) -> Self {
        Self::start(command, Stdio::from)
    }

    fn start(mut command: Command, output: impl FnOnce(File) -> Stdio) -> Self {
        let (keyboard, tty) = open_terminal();
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        command.stdin(tty.try_clone().unwrap());
        command.stderr(tty.try_clone().unwrap());
        command.stdout(output(tty));
        let child = command.spawn().unwrap();
        drop(command);

        let (sender, output) = channel();
        let mut screen = keyboard.try_clone().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The read fails after the program has exited.
            while let Ok(count) = screen.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                if count == 0 || sender.send(text).is_err() {
                    return;
                }
            }
        });
        let seen = String::new();
        Self {
            child,
            keyboard,
            output,
            seen,
        }
    }

    /// Waits for `text` in the output and discards everything up to its end.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> &mut Self {
        self.until(text);
        self
    }

    /// Waits for `text` in the output, discards everything up to its end, and returns the output before it.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) -> String {
        while !self.seen.contains(text) {
            let more = self.output.recv_timeout(Duration::from_secs(30));
            let seen = &self.seen;
            let more = more.unwrap_or_else(|_| panic!("{text:?} is not in the output:\n{seen}"));
            self.seen.push_str(&more.replace("\r\n", "\n"));
        }
        let start = self.seen.find(text).unwrap();
        let rest = self.seen.split_off(start + text.len());
        let mut before = std::mem::replace(&mut self.seen, rest);
        before.truncate(start);
        before
    }

    /// Types a line.
    pub(crate) fn enter(&mut self, line: &str) -> &mut Self {
        writeln!(self.keyboard, "{line}").unwrap();
        self
    }

    /// Types keys without ending the line.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        write!(self.keyboard, "{keys}").unwrap();
        self
    }

    /// Sends SIGINT, as Ctrl-C does. The pseudo-terminal does not control the process, so it sends no signals itself.
    pub(crate) fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    }

    #[track_caller]
    /// Waits for the program to exit, and asserts the exit code and standard output.
    pub(crate) fn expect_exit(self, code: i32, stdout: &str) {
        let output = self.child.wait_with_output().unwrap();
        let stdout_text = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), &*stdout_text), (Some(code), stdout));
    }
}

/// Opens a pseudo-terminal. Returns its keyboard and screen, and the file for programs.
pub(crate) fn open_terminal() -> (File, File) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&keyboard).unwrap();
    unlockpt(&keyboard).unwrap();
    let name = ptsname(&keyboard, Vec::new()).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&keyboard, size).unwrap();
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true);
    let tty = options.open(name.to_str().unwrap()).unwrap();
    (File::from(keyboard), tty)
}

#[test]
fn form_is_entered_field_by_field() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut terminal = Terminal::call(&["book", "--protocol-version", revision]);
        terminal.expect("`test ␛[1mserver` asks: Who stays?␛[1m\n");
        terminal.expect("\nGuest (name)\n  Name as in the passport\n  a string\n> ");
        terminal
            .enter("Ada")
            .expect("\nnights\n  an integer (1 to 30)\n[2] > ");
        terminal
            .enter("40")
            .expect("invalid: expected an integer (1 to 30), got 40\n")
            .expect("[2] > ");
        terminal
            .enter("3")
            .expect("  1  Single\n  2  Double room (double)\n")
            .expect("> ");
        terminal
            .enter("/back")
            .expect("\nnights\n")
            .expect("[3] > ");
        terminal.enter("").expect("\nroom\n").expect("> ");
        terminal.enter("2").expect("a string; optional\n> ");
        terminal
            .enter("")
            .expect("\n  name: Ada\n  nights: 3\n  room: double\n");
        terminal.expect("Send this to `test ␛[1mserver`? [y]es, [e]dit, [d]ecline, [c]ancel: ");
        terminal.enter("e").expect("[Ada] > ");
        terminal.enter("Grace").expect("[3] > ");
        terminal.enter("").expect("[double] > ");
        terminal.enter("").expect("> ");
        terminal.enter("late").expect("note: late\n");
        terminal.expect("[c]ancel: ").enter("y");
        terminal.expect_exit(0, "Grace, 3 nights, double, note: late\n");
    }
}

#[test]
fn only_open_fields_are_prompted_for() {
    let answers = ["--answer", "name=Ada", "--answer", "nights=3"];
    let mut terminal = Terminal::call(&[&["book"][..], &answers].concat());
    terminal.expect("\nroom\n").expect("> ").enter("single");
    terminal.expect("\nnote\n").expect("> ").enter("");
    terminal
        .expect("name: Ada\n")
        .expect("[c]ancel: ")
        .enter("y");
    terminal.expect_exit(0, "Ada, 3 nights, single, note: none\n");
}

#[test]
fn requests_can_be_declined_and_cancelled() {
    for (word, reason) in [("/decline", "declined"), ("/cancel", "cancel")] {
        let mut terminal = Terminal::call(&["book"]);
        terminal
            .expect("\n> ")
            .enter(word)
            .expect("error: the tool failed: ")
            .expect(reason);
        terminal.expect_exit(1, "");
    }
    for (answer, code, stdout) in [("y", 0, "erased\n"), ("n", 1, ""), ("/cancel", 1, "")] {
        let mut terminal = Terminal::call(&["erase"]);
        terminal
            .expect("asks: Erase everything?\n")
            .expect("[c]ancel: ");
        terminal.enter("perhaps").expect("[c]ancel: ").enter(answer);
        terminal.expect_exit(code, stdout);
    }
}

#[test]
fn input_before_a_prompt_is_not_an_answer() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut terminal = Terminal::call(&["erase", "--protocol-version", revision]);
        terminal
            .enter("y")
            .enter("y")
            .expect("[c]ancel: ")
            .enter("n");
        terminal.expect_exit(1, "");
    }
}

#[test]
fn url_is_printed_and_accepted() {
    let mut terminal = Terminal::call(&["pay"]);
    terminal.expect("  host: xn--e1afmkfd.example\n");
    terminal.expect("  page: http://shop@xn--e1afmkfd.example/pay?id=1\n");
    terminal
        .expect("The page was not opened or fetched")
        .expect("[c]ancel: ");
    terminal.enter("a");
    terminal.expect_exit(0, "paid\n");
}

#[test]
fn progress_is_drawn_at_a_terminal() {
    let mut terminal = Terminal::call(&["steps"]);
    terminal.expect("of 6  step␛[1m by step");
    terminal.expect_exit(0, "done\n");
}

#[test]
fn server_at_a_terminal_stops_while_standard_input_is_idle() {
    let mut server = Command::new(test_server());
    server.arg("closing");
    let terminal = Terminal::run(server);
    let (sender, outcome) = channel();
    // The input stays open, and nothing is typed.
    let Terminal {
        mut child,
        keyboard,
        output,
        ..
    } = terminal;
    thread::spawn(move || sender.send(child.wait().unwrap()));
    let status = outcome.recv_timeout(Duration::from_secs(30));
    assert!(status.expect("the server has not exited").success());
    drop((keyboard, output));
}

#[test]
fn ctrl_c_cancels_the_prompt_and_the_call() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut terminal = Terminal::call(&["book", "--protocol-version", revision]);
        terminal.expect("\n> ");
        terminal.interrupt();
        terminal.expect("error: cancelled\n");
        terminal.expect_exit(130, "");
    }
}
