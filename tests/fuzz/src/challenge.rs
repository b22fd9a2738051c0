//! Challenges of `WWW-Authenticate`: parsing is lenient, and a malformed value does not hide the next one.

use treenail::client::Challenges;

const GOOD: &str = r#"Bearer scope="a b", resource_metadata="https://a.example/b""#;

/// The lines are the values of headers.
pub(crate) fn run(data: &[u8]) {
    let values: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let challenges = Challenges::parse(&values);
    for challenge in challenges.iter() {
        let scheme = challenge.scheme();
        assert!(!scheme.is_empty() && scheme.is_ascii(), "{scheme}");
        for name in ["scope", "realm", "error", "resource_metadata"] {
            for value in challenge.values(name) {
                assert!(!value.contains(char::is_control), "{value}");
            }
            assert_eq!(challenge.parameter(name), challenge.values(name).next());
        }
        assert!(challenge.token().is_none_or(str::is_ascii));
    }
    let shown = challenges.to_string();
    assert!(!shown.contains(char::is_control), "{shown}");

    let size: usize = values.iter().map(|value| value.len()).sum();
    if size + GOOD.len() <= 8 * 1024 {
        let mut more = values;
        more.push(GOOD.as_bytes());
        let found = Challenges::parse(more);
        let found: Vec<_> = found.iter().collect();
        let (last, before) = found.split_last().expect("the good value has a challenge");
        assert!(before.iter().copied().eq(challenges.iter()));
        assert_eq!(last.parameter("scope"), Some("a b"));
        let metadata = last.parameter("resource_metadata");
        assert_eq!(metadata, Some("https://a.example/b"));
    }
}
