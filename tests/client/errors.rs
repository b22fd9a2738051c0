//! Errors of the client as errors of the crate.

use treenail::agent::ModelError;
use treenail::client::ContractError;

/// Returns an error as `main` of a program does.
fn read_lock(text: &str) -> treenail::Result<treenail::client::Contract> {
    Ok(treenail::client::Contract::from_json(text)?)
}

fn ask_model(fails: bool) -> treenail::Result<()> {
    if fails {
        Err(ModelError::unavailable("it is asleep"))?;
    }
    Ok(())
}

#[test]
fn contract_and_model_errors_convert_to_the_crate_error() {
    let error = read_lock("{}").unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ContractError>()));
    let error = ask_model(true).unwrap_err();
    assert!(matches!(&error, treenail::Error::Other(error) if error.is::<ModelError>()));
    ask_model(false).unwrap();
}
