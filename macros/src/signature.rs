//! A function as the macros see it: its head as syntax, its body as the user's own tokens.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, LitStr, Signature, Token, Type, Visibility, token};

/// A function whose body is not looked into, so that rustc reports what is wrong in there.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Function {
    /// Whether a function follows, with or without attributes, visibility and qualifiers.
    pub(crate) fn peek(input: ParseStream<'_>) -> syn::Result<bool> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        while ahead.peek(Ident::peek_any) && !ahead.peek(Token![fn]) || ahead.peek(LitStr) {
            ahead.parse::<TokenTree>()?;
        }
        Ok(ahead.peek(Token![fn]))
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: braces(input)?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attributes,
            visibility,
            signature,
            body,
        } = self;
        tokens.append_all(attributes);
        visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        body.to_tokens(tokens);
    }
}

/// A `{ … }` as one group of tokens.
pub(crate) fn braces(input: ParseStream<'_>) -> syn::Result<Group> {
    if input.peek(token::Brace) {
        input.parse()
    } else {
        Err(input.error("expected a body in braces"))
    }
}

/// The type itself, without parentheses and the invisible groups of `macro_rules`.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// Where a type says that it borrows for less than `'static`: at a bare `&` or another lifetime.
pub(crate) fn borrow_in(ty: TokenStream) -> Option<TokenTree> {
    find(ty, &|token, next| match token {
        TokenTree::Punct(punct) if punct.as_char() == '&' => next != "'",
        TokenTree::Punct(punct) if punct.as_char() == '\'' => next != "static",
        _ => false,
    })
}

/// Where a type has a keyword, such as the `impl` of `impl Trait`.
pub(crate) fn keyword_in(ty: TokenStream, keyword: &str) -> Option<TokenTree> {
    find(
        ty,
        &|token, _| matches!(token, TokenTree::Ident(ident) if ident == keyword),
    )
}

/// The first token, at any depth, that `wanted` accepts when it sees it and what comes next.
fn find(tokens: TokenStream, wanted: &dyn Fn(&TokenTree, &str) -> bool) -> Option<TokenTree> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(ToString::to_string).unwrap_or_default();
        let found = match &token {
            TokenTree::Group(group) => find(group.stream(), wanted),
            _ => wanted(&token, &next).then_some(token),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::borrow_in;

    #[test]
    fn borrows_are_found_at_any_depth() {
        for (ty, borrows) in [
            (quote!(String), false),
            (quote!(&str), true),
            (quote!(&'static str), false),
            (quote!(Result<(u8, &str), Error>), true),
            (quote!(Option<&'a str>), true),
            (quote!(Cow<'_, str>), true),
            (quote!(Cow<'static, str>), false),
        ] {
            assert_eq!(borrow_in(ty.clone()).is_some(), borrows, "{ty}");
        }
    }
}
