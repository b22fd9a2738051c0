//! Lock files and drift: any two contracts can be compared.

use treenail_contract::{Contract, DriftLimits, is_invisible};

use crate::texts;

/// The texts are two lock files.
pub(crate) fn run(data: &[u8]) {
    let Some(texts) = texts::<2>(data) else {
        return;
    };
    let [one, other] = texts.map(Contract::from_json);
    for result in [&one, &other] {
        match result {
            Ok(contract) => check(contract),
            Err(error) => {
                assert!(!error.to_string().is_empty());
            }
        }
    }
    if let (Ok(one), Ok(other)) = (one, other) {
        compare(&one, &other);
    }
}

fn check(contract: &Contract) {
    let text = contract.to_json();
    assert!(!text.contains(is_hidden), "{text}");
    let read = Contract::from_json(&text).expect("a written contract can be read");
    assert_eq!(&read, contract);
    assert_eq!(read.to_json(), text);
    assert!(contract.drift(contract).is_empty());
}

fn compare(one: &Contract, other: &Contract) {
    let limits = DriftLimits::default().steps(20_000).changes(50);
    let drift = one.drift_within(other, &limits);
    let shown = drift.to_string();
    let is_hidden = |letter| letter != '\t' && is_hidden(letter);
    assert!(!shown.contains(is_hidden), "{shown:?}");
    if one.to_json() == other.to_json() {
        assert!(drift.is_empty(), "{shown}");
    }
    if !one.is_limited_to_tools()
        && !other.is_limited_to_tools()
        && one.resources() == other.resources()
    {
        let reverse = other.drift_within(one, &limits);
        assert_eq!(drift.is_empty(), reverse.is_empty(), "{shown}{reverse}");
    }
}

fn is_hidden(letter: char) -> bool {
    letter != '\n' && (letter.is_control() || is_invisible(letter))
}
