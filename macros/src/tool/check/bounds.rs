//! Rules for the bounds and the default of an argument or a field, if these are number literals.

use quote::ToTokens;
use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, UnOp};

use crate::args::{Attr, without_group};
use crate::diag::Sink;
use crate::signature::self_value_in;

/// A default does not depend on `self`.
pub(crate) fn constant_default(default: Option<&Attr<Option<Expr>>>, sink: &mut Sink) {
    let value = default.and_then(|default| default.value.as_ref());
    if let Some(token) = value.and_then(|value| self_value_in(value.to_token_stream())) {
        sink.error(
            token,
            "a default can't depend on `self`; write a constant, like `Self::DEFAULT`",
        );
    }
}

/// A range is not empty.
pub(crate) fn range_is_not_empty(range: Option<&Attr<ExprRange>>, sink: &mut Sink) {
    let Some(Attr { value: range, .. }) = range else {
        return;
    };
    let (Some(start), Some(end)) = (bound(range.start.as_deref()), bound(range.end.as_deref()))
    else {
        return;
    };
    let half_open = matches!(range.limits, RangeLimits::HalfOpen(_));
    if start > end || half_open && start >= end {
        sink.error(range, "this range is empty; swap its bounds");
    }
}

/// A default is within the bounds.
pub(crate) fn default_in_range(
    default: Option<&Attr<Option<Expr>>>,
    range: Option<&Attr<ExprRange>>,
    sink: &mut Sink,
) {
    let value = default.and_then(|default| default.value.as_ref());
    let (Some(value), Some(Attr { value: range, .. })) = (value, range) else {
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

/// Bound below which integers are exact as an `f64`. Larger ones are checked when the server is built.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The value of a number literal, with or without a sign.
fn number(expr: &Expr) -> Option<f64> {
    match without_group(expr.clone()) {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Int(number) => number
                .base10_digits()
                .parse()
                .ok()
                .filter(|it| *it < MAX_EXACT_INTEGER),
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
