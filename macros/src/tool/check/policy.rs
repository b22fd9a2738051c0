//! Rules for the timeout and the concurrency limit of a tool.

use quote::ToTokens;
use syn::{Expr, ExprLit, Lit};

use crate::diag::Sink;
use crate::tool::model::{Feature, Mode};

/// A timeout is a `Duration`, not a number without a unit.
pub(super) fn timeout_is_a_duration(feature: &Feature, sink: &mut Sink) {
    let timeout = feature.tool().and_then(|tool| tool.timeout.as_ref());
    if let Some(Expr::Lit(literal)) = timeout.map(|timeout| &timeout.value) {
        let seconds = match &literal.lit {
            Lit::Int(number) => number.base10_digits(),
            _ => "30",
        };
        sink.error(
            literal,
            format!("a timeout is a `Duration`; write `Duration::from_secs({seconds})`"),
        );
    }
}

/// A function with a timeout is `async` or `blocking` or returns a stream, since any other blocks its caller until it returns.
pub(super) fn timeout_can_end_the_call(feature: &Feature, sink: &mut Sink) {
    let Some(timeout) = feature.tool().and_then(|tool| tool.timeout.as_ref()) else {
        return;
    };
    if Mode::of(feature) == Mode::Synchronous {
        sink.error(
            &timeout.key,
            "nothing can interrupt this function; make it `async`, or `blocking` if it takes long",
        );
    }
}

/// A concurrency limit is a positive integer.
pub(super) fn max_concurrency_is_a_number(feature: &Feature, sink: &mut Sink) {
    let max_concurrency = feature
        .tool()
        .and_then(|tool| tool.max_concurrency.as_ref());
    let Some(Expr::Lit(ExprLit { lit, .. })) = max_concurrency.map(|it| &it.value) else {
        return;
    };
    match lit {
        Lit::Int(number) if number.base10_digits() != "0" => {}
        Lit::Int(_) => sink.error(
            lit.to_token_stream(),
            "with a limit of 0 the tool could never run; write `max_concurrency = 1` or more",
        ),
        _ => sink.error(
            lit.to_token_stream(),
            "`max_concurrency` is a number of calls; write an integer, like `max_concurrency = 1`",
        ),
    }
}
