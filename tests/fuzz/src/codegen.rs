//! Generated clients: the code of any lock file is Rust, and contains nothing of the server but names and texts.

use std::iter;

use proc_macro2::{TokenStream, TokenTree};
use syn::{Expr, ImplItem, Item, Lit};
use treenail_codegen::Client;
use treenail_contract::Contract;
use treenail_schema::SchemaObject;

/// The input is a lock file.
pub(crate) fn run(data: &[u8]) {
    let Ok(lock) = std::str::from_utf8(data) else {
        return;
    };
    let client = Client::from_json(lock);
    let Ok(code) = client.to_rust() else {
        return;
    };
    let file = syn::parse_file(&code).expect("the code is Rust");
    let tokens: TokenStream = code.parse().expect("the code has tokens");
    assert!(!has_forbidden(tokens), "{code}");
    let again = client
        .to_rust()
        .expect("the code has been generated before");
    assert_eq!(again, code, "the code is deterministic");
    if let Ok(contract) = Contract::from_json(lock) {
        let text = file
            .items
            .iter()
            .find_map(lock_text)
            .expect("the code has a lock file");
        let included = Contract::from_json(&text).expect("the lock file can be read");
        let undeclared = iter::empty::<(String, SchemaObject)>();
        assert_eq!(included, contract.with_undeclared_outputs(undeclared));
    }
}

/// Returns true if a token could run code of the server, or read its files.
fn has_forbidden(tokens: TokenStream) -> bool {
    const FORBIDDEN: [&str; 6] = [
        "unsafe",
        "extern",
        "include",
        "include_str",
        "include_bytes",
        "env",
    ];
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => FORBIDDEN.contains(&&*ident.to_string()),
        TokenTree::Group(group) => has_forbidden(group.stream()),
        _ => false,
    })
}

/// Returns the text of the constant `LOCK` of the client.
fn lock_text(item: &Item) -> Option<String> {
    let Item::Impl(block) = item else {
        return None;
    };
    block.items.iter().find_map(|item| match item {
        ImplItem::Const(constant) if constant.ident == "LOCK" => string(&constant.expr),
        _ => None,
    })
}

fn string(expr: &Expr) -> Option<String> {
    let Expr::Lit(literal) = expr else {
        return None;
    };
    match &literal.lit {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}
