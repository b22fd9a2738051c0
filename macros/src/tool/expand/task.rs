//! The task support of a tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::krate::Krate;
use crate::tool::model::Tool;
use crate::tool::model::task::Length;

/// Expands to
/// ```text
/// .task(::treenail::__tasks_0_1_0::task(
///     ::treenail::__private_0_1_0::TaskOptions::new().always().keep(86_400_000u64),
/// ))
/// ```
/// with the span of the key, at which rustc reports that the feature is off.
pub(super) fn task(krate: &Krate, tool: &Tool) -> Option<TokenStream> {
    let task = tool.task.as_ref()?;
    let (always, required) = (task.always.iter(), task.required.iter());
    let (external, resume) = (task.external.iter(), task.resume.iter());
    let flags = always.chain(required).chain(external).chain(resume);
    let lengths = [&task.after, &task.keep, &task.max];
    let lengths = lengths
        .into_iter()
        .flatten()
        .map(|Length { key, ms, .. }| quote!(.#key(#ms)));
    let options = quote!(#krate::__private_0_1_0::TaskOptions::new() #(.#flags())* #(#lengths)*);
    let span = task.key.span();
    let krate = krate.at(span);
    let support = quote_spanned!(span=> #krate::__tasks_0_1_0::task);
    let options = quote_spanned!(span=> { #options });
    Some(quote!(.task(#support(#options))))
}
