//! Functions as the macros parse them: the signature as syntax, the body as raw tokens.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Ident, LitStr, PathArguments, PathSegment, Signature, Token, Type, TypeParamBound,
    Visibility, braced, token,
};

/// A function whose body is not parsed, so that rustc reports the errors in it.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
    /// The `;` in place of a missing body.
    pub(crate) missing: Option<Token![;]>,
}

impl Function {
    /// Returns `true` if a function follows, with or without attributes, visibility and qualifiers.
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
        let (attributes, visibility) = (input.call(Attribute::parse_outer)?, input.parse()?);
        let ahead = input.fork();
        let signature = input
            .parse()
            .map_err(|error| default_value(&ahead).unwrap_or(error))?;
        let missing: Option<Token![;]> = input.parse()?;
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: match missing {
                Some(_) => Group::new(Delimiter::Brace, quote!(loop {})),
                None => braces(input)?,
            },
            missing,
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
            ..
        } = self;
        tokens.append_all(attributes);
        visibility.to_tokens(tokens);
        signature.to_tokens(tokens);
        body.to_tokens(tokens);
    }
}

/// Finds a default value in the parameters, `count: u8 = 3`, and returns an error with the right place for it.
fn default_value(signature: ParseStream<'_>) -> Option<syn::Error> {
    let signature: TokenStream = signature.parse().ok()?;
    let parameters = signature.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    })?;
    let mut tokens = parameters.stream().into_iter();
    let mut angles = 0;
    let equals = loop {
        let TokenTree::Punct(punct) = tokens.next()? else {
            continue;
        };
        match punct.as_char() {
            '<' => angles += 1,
            '>' => angles -= 1,
            '=' if angles == 0 => break punct,
            // The arrow of a function type has a `>` too.
            '-' => drop(tokens.next()),
            _ => {}
        }
    };
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    let value: TokenStream = tokens.take_while(|token| !is_comma(token)).collect();
    let message = format!(
        "a default is part of `#[arg]`; write `#[arg(default = {value})]` before the argument"
    );
    Some(syn::Error::new_spanned(equals, message))
}

/// Parses a `{ … }` as one group of tokens.
fn braces(input: ParseStream<'_>) -> syn::Result<Group> {
    if !input.peek(token::Brace) {
        return Err(input.error("expected a body in braces"));
    }
    if input.fork().parse::<Group>().is_ok() {
        return input.parse();
    }
    // A `macro_rules` fragment like `$body:block` is wrapped in an invisible group.
    let content;
    let brace = braced!(content in input);
    let mut body = Group::new(Delimiter::Brace, content.parse()?);
    body.set_span(brace.span.join());
    Ok(body)
}

/// Strips parentheses and the invisible groups of `macro_rules` from a type.
pub(crate) fn peel(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// Returns `true` for `Result<T, E>`, at any path. An alias that hides the error is not recognized.
pub(crate) fn is_result(ty: &Type) -> bool {
    let Type::Path(path) = peel(ty) else {
        return false;
    };
    path.path.segments.last().is_some_and(|last| {
        let parameters = match &last.arguments {
            PathArguments::AngleBracketed(parameters) => parameters.args.len(),
            _ => 0,
        };
        last.ident == "Result" && parameters == 2
    })
}

/// Returns `true` for `dyn Trait`.
pub(crate) fn is_trait_object(ty: &Type) -> bool {
    matches!(peel(ty), Type::TraitObject(_))
}

/// Finds the token by which a type borrows for less than `'static`: a bare `&` or another lifetime.
pub(crate) fn borrow_in(ty: TokenStream) -> Option<TokenTree> {
    find(ty, &|token, next| match token {
        TokenTree::Punct(punct) if punct.as_char() == '&' => next != "'",
        TokenTree::Punct(punct) if punct.as_char() == '\'' => next != "static",
        _ => false,
    })
}

/// Finds the `&` of a reference type, also of one that is `'static`.
pub(crate) fn reference_in(ty: TokenStream) -> Option<TokenTree> {
    find(
        ty,
        &|token, _| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '&'),
    )
}

/// Finds a keyword in a type, such as the `impl` of `impl Trait`.
pub(crate) fn keyword_in(ty: TokenStream, keyword: &str) -> Option<TokenTree> {
    find(
        ty,
        &|token, _| matches!(token, TokenTree::Ident(ident) if ident == keyword),
    )
}

/// Finds the `Name<…>` of `impl Name<…>` or `dyn Name<…>`, at any path and at any depth of a type.
pub(crate) fn bound_in(ty: TokenStream, name: &str) -> Option<PathSegment> {
    let mut tokens = ty.into_iter();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Group(group) => bound_in(group.stream(), name),
            TokenTree::Ident(ident) if ident == "impl" || ident == "dyn" => {
                let bounds = |input: ParseStream<'_>| {
                    let found = bound(input, name)?;
                    input.parse::<TokenStream>()?;
                    Ok(found)
                };
                bounds.parse2(tokens.clone().collect()).ok().flatten()
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Parses bounds up to one with this name.
fn bound(input: ParseStream<'_>, name: &str) -> syn::Result<Option<PathSegment>> {
    loop {
        if let TypeParamBound::Trait(bound) = input.parse()? {
            let last = bound.path.segments.into_iter().next_back();
            if let Some(last) = last.filter(|last| last.ident == name) {
                return Ok(Some(last));
            }
        }
        if input.parse::<Option<Token![+]>>()?.is_none() {
            return Ok(None);
        }
    }
}

/// Finds the first `self` that is a value. The `self` of a path like `self::DEFAULT` is a module.
pub(crate) fn self_value_in(expr: TokenStream) -> Option<TokenTree> {
    find(
        expr,
        &|token, next| matches!(token, TokenTree::Ident(ident) if ident == "self" && next != ":"),
    )
}

/// Finds the first token, at any depth, that `wanted` accepts, given the token and the text of the next one.
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
