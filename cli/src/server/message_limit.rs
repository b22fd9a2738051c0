//! Maximum size of a message of a server.

use clap::Args;
use treenail::client::ClientLimits;

/// Maximum size of a message of a server.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct MessageArgs {
    /// Maximum size of a message of a server, such as a result, e.g. 64M [default: 8M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Server")]
    max_message: Option<usize>,
}

impl MessageArgs {
    /// Sets the size. A decoded message takes more memory than its text.
    pub(super) fn apply(self, limits: &mut ClientLimits) {
        if let Some(bytes) = self.max_message {
            limits.message_bytes = bytes;
            limits.decoded_bytes = limits.decoded_bytes.max(bytes.saturating_mul(2));
        }
    }
}

/// Parses a size: a number of bytes, or a number with the unit `K`, `M` or `G`.
fn parse_size(text: &str) -> Result<usize, String> {
    let number = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[number.len()..] {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        _ => None,
    };
    let size = number.parse::<usize>().ok().zip(unit);
    let size = size.and_then(|(number, unit)| number.checked_mul(unit));
    let size = size.filter(|size| *size > 0);
    size.ok_or_else(|| "expected a number of bytes, or a size such as 500K, 64M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_may_have_a_unit() {
        for (text, expected) in [
            ("1", Some(1)),
            ("2K", Some(2 << 10)),
            ("64M", Some(64 << 20)),
            ("1G", Some(1 << 30)),
            ("0", None),
            ("M", None),
            ("1KM", None),
            ("-1", None),
            ("99999999999999999G", None),
        ] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
    }
}
