//! Names of packages.

use crate::exit::Failure;

/// Maximum length of a name on crates.io.
const MAX_LENGTH: usize = 64;

/// Keywords of all editions, which cannot be names of crates.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn for \
    gen if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true try type \
    typeof unsafe unsized use virtual where while yield";

/// Crates of each project, folders of Cargo, and names of devices on Windows.
const RESERVED: &str = "alloc api axum aux build con core deps doc examples incremental nul prn proc_macro std target test tokio \
    treenail";

/// Checks that a name can be that of a package, of its program and of its folder on each platform.
pub(super) fn check_name(name: &str) -> Result<(), Failure> {
    let refuse = |reason: &str| {
        let message = format!("`{name}` cannot be the name of a package: {reason}");
        Err(Failure::usage(message))
    };
    let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return refuse("it has to start with a letter a-z");
    }
    if let Some(c) = name.chars().find(|c| !valid(*c)) {
        return refuse(&format!("{c:?} is not allowed; use a-z, 0-9, `-` and `_`"));
    }
    if name.len() > MAX_LENGTH {
        return refuse(&format!("it has more than {MAX_LENGTH} characters"));
    }
    let is_in = |list: &str| {
        list.split_whitespace()
            .any(|word| word == name.replace('-', "_"))
    };
    if is_in(KEYWORDS) {
        return refuse("it is a keyword of Rust");
    }
    if is_in(RESERVED) {
        return refuse("it is the name of a library or of a folder of Cargo");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_packages() {
        for name in ["a", "calculator", "my-server_2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "",
            "2fast",
            "-a",
            "Calculator",
            "a b",
            "ü",
            "a/b",
            "async",
            "test",
            "proc-macro",
            &long,
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
