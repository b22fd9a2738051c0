//! Parser of the items that `#[mcp_tool]` annotates: functions and `impl` blocks.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseBuffer, ParseStream, Parser};
use syn::{Attribute, Generics, ImplItem, Token, Type, Visibility, braced};

use crate::signature::Function;

/// The annotated item.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Item {
    Function(Function),
    Block(ImplBlock),
}

/// An `impl` block. Only the signatures of its functions are parsed.
pub(crate) struct ImplBlock {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) generics: Generics,
    /// The trait of `impl Trait for Type`.
    pub(crate) of_trait: Option<Type>,
    pub(crate) self_ty: Type,
    pub(crate) members: Vec<Member>,
}

/// A member of an `impl` block.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Member {
    Function(Function),
    Other(ImplItem),
}

impl ImplBlock {
    /// The functions of the block, marked or not.
    pub(crate) fn functions(&mut self) -> impl Iterator<Item = &mut Function> {
        self.members.iter_mut().filter_map(|member| match member {
            Member::Function(function) => Some(function),
            Member::Other(_) => None,
        })
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if Function::peek(input)? {
            return input.parse().map(Self::Function);
        }
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        if ahead.peek(Token![impl]) {
            return input.parse().map(Self::Block);
        }
        ahead.parse::<Visibility>()?;
        let instead = other_macro(&ahead).map(|instead| format!("; {instead}"));
        let instead = instead.unwrap_or_default();
        Err(ahead.error(format!(
            "`#[mcp_tool]` can only be applied to a function or an `impl` block{instead}"
        )))
    }
}

/// The macro for the item that follows, if it is another one.
fn other_macro(item: ParseStream<'_>) -> Option<&'static str> {
    if item.peek(Token![trait]) || item.peek(Token![unsafe]) && item.peek2(Token![trait]) {
        Some("a trait takes `#[mcp_client]`")
    } else if item.peek(Token![struct]) {
        Some("a struct takes `#[mcp_type]`")
    } else if item.peek(Token![enum]) {
        Some("an enum takes `#[mcp_type]`")
    } else {
        None
    }
}

/// Parses an `impl` block without its members. Returns `None` for anything else.
pub(crate) fn head(item: &TokenStream) -> Option<ImplBlock> {
    let parse = |input: ParseStream<'_>| {
        let (head, content) = ImplBlock::head(input)?;
        content.parse::<TokenStream>()?;
        Ok(head)
    };
    parse.parse2(item.clone()).ok()
}

impl ImplBlock {
    /// Parses a block up to its members.
    fn head(input: ParseStream<'_>) -> syn::Result<(Self, ParseBuffer<'_>)> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics = input.parse()?;
        let first: Type = input.parse()?;
        let (of_trait, self_ty) = match input.parse::<Option<Token![for]>>()? {
            Some(_) => (Some(first), input.parse()?),
            None => (None, first),
        };
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        attributes.extend(content.call(Attribute::parse_inner)?);
        let head = Self {
            attributes,
            generics,
            of_trait,
            self_ty,
            members: Vec::new(),
        };
        Ok((head, content))
    }
}

impl Parse for ImplBlock {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut block, content) = Self::head(input)?;
        while !content.is_empty() {
            block.members.push(content.parse()?);
        }
        Ok(block)
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if Function::peek(input)? {
            input.parse().map(Self::Function)
        } else {
            input.parse().map(Self::Other)
        }
    }
}

impl ToTokens for ImplBlock {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attributes,
            generics,
            of_trait,
            self_ty,
            members,
        } = self;
        let where_clause = &generics.where_clause;
        let of_trait = of_trait.as_ref().map(|of_trait| quote!(#of_trait for));
        let (outer, inner): (Vec<_>, Vec<_>) = attributes
            .iter()
            .partition(|attribute| matches!(attribute.style, syn::AttrStyle::Outer));
        tokens.extend(quote! {
            #(#outer)*
            impl #generics #of_trait #self_ty #where_clause {
                #(#inner)*
                #(#members)*
            }
        });
    }
}

impl ToTokens for Member {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Function(function) => function.to_tokens(tokens),
            Self::Other(item) => item.to_tokens(tokens),
        }
    }
}
