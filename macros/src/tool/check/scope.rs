//! Rules for scopes.

use syn::{Expr, ExprLit, Lit};

use crate::diag::Sink;

/// A scope that is written as a literal consists of the characters that OAuth allows (RFC 6749, section 3.3).
pub(crate) fn legal_scope(scope: Option<&Expr>, sink: &mut Sink) {
    match scope {
        Some(Expr::Array(array)) => {
            for scope in &array.elems {
                legal_scope(Some(scope), sink);
            }
        }
        Some(Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        })) => {
            let text = literal.value();
            let legal = |c: &char| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~');
            if let Some(c) = text.chars().find(|c| !legal(c)) {
                let message =
                    format!("{c:?} is not allowed in a scope; use visible ASCII characters");
                sink.error(literal, message);
            } else if text.trim().is_empty() {
                let message = "a scope is not empty; write `scope = []` if calls need none";
                sink.error(literal, message);
            }
        }
        _ => {}
    }
}
