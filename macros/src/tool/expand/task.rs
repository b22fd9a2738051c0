//! The task support of a tool.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use crate::krate::Krate;
use crate::tool::model::Tool;
use crate::tool::model::task::Length;

/// Expands to
/// ```text
/// .task(::treenail::__tasks_0_1_0::task({
///     let keys: &[::treenail::__private_0_1_0::TaskKey] = &[TaskKey::Always, TaskKey::Keep(86_400_000u64)];
///     keys
/// }))
/// ```
/// with the span of the key, at which rustc reports that the feature is off.
pub(super) fn task(krate: &Krate, tool: &Tool) -> Option<TokenStream> {
    let task = tool.task.as_ref()?;
    let path = quote!(#krate::__private_0_1_0::TaskKey);
    let flags = [&task.always, &task.required, &task.external, &task.resume];
    let flags = flags.into_iter().flatten().map(|key| {
        let variant = variant(key);
        quote!(#path::#variant)
    });
    let lengths = [&task.after, &task.keep, &task.run_time];
    let lengths = lengths.into_iter().flatten().map(|Length { key, ms, .. }| {
        let variant = variant(key);
        quote!(#path::#variant(#ms))
    });
    let keys = flags.chain(lengths);
    let span = task.key.span();
    let krate = krate.at(span);
    let keys = quote_spanned!(span=> { let keys: &[#path] = &[#(#keys),*]; keys });
    Some(quote_spanned!(span=> .task(#krate::__tasks_0_1_0::task(#keys))))
}

/// The variant of `TaskKey` for a key: `RunTime` for `run_time`.
fn variant(key: &Ident) -> Ident {
    let key_text = key.to_string();
    let words = key_text.split('_').map(|word| {
        let (first, rest) = word.split_at(1);
        first.to_uppercase() + rest
    });
    Ident::new(&words.collect::<String>(), key.span())
}
