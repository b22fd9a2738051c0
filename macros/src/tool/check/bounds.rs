//! The rules for the bounds and the default of an argument or a field, as far as they are written as numbers.

use quote::ToTokens;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, UnOp};

use crate::args::{Given, without_group};
use crate::diag::Sink;
use crate::signature::keyword_in;

/// A default is known before there is a call.
pub(crate) fn constant_default(default: Option<&Given<Option<Expr>>>, sink: &mut Sink) {
    let value = default.and_then(|default| default.value.as_ref());
    if let Some(token) = value.and_then(|value| keyword_in(value.to_token_stream(), "self")) {
        sink.error(
            token,
            "a default is the same for all values; write one without `self`, like `Self::DEFAULT`",
        );
    }
}

/// Something is within the bounds.
pub(crate) fn some_value(range: Option<&Given<ExprRange>>, sink: &mut Sink) {
    let Some(Given { value: range, .. }) = range else {
        return;
    };
    let (Some(start), Some(end)) = (bound(range.start.as_deref()), bound(range.end.as_deref()))
    else {
        return;
    };
    let half_open = matches!(range.limits, RangeLimits::HalfOpen(_));
    if start > end || half_open && start >= end {
        sink.error(range, "nothing is within this range; swap its bounds");
    }
}

/// A default is within the bounds.
pub(crate) fn default_in_range(
    default: Option<&Given<Option<Expr>>>,
    range: Option<&Given<ExprRange>>,
    sink: &mut Sink,
) {
    let value = default.and_then(|default| default.value.as_ref());
    let (Some(value), Some(Given { value: range, .. })) = (value, range) else {
        return;
    };
    let Some(number) = number(value) else {
        return;
    };
    let below = bound(range.start.as_deref()).is_some_and(|start| number < start);
    let half_open = matches!(range.limits, RangeLimits::HalfOpen(_));
    let above =
        bound(range.end.as_deref()).is_some_and(|end| number > end || half_open && number >= end);
    if below || above {
        let range = range.to_token_stream().to_string().replace(' ', "");
        sink.error(
            value,
            format!("the default is not within `{range}`; change one of the two"),
        );
    }
}

fn bound(bound: Option<&Expr>) -> Option<f64> {
    bound.and_then(number)
}

/// The integers that are exact as an `f64`; what is beyond is left for when the server is built.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value of a number, with or without a sign.
fn number(expr: &Expr) -> Option<f64> {
    match without_group(expr.clone()) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Int(number) => number.base10_digits().parse().ok().filter(|it| *it < EXACT),
            Lit::Float(number) => number.base10_digits().parse().ok(),
            _ => None,
        },
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => number(&expr).map(|number| -number),
        _ => None,
    }
}
