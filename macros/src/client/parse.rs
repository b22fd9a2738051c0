//! Parser of the traits that `#[mcp_client]` annotates. Only the signatures of their functions are parsed.

use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Generics, Ident, Signature, Token, TraitItem, TypeParamBound, Visibility, braced,
};

use crate::lints;
use crate::signature::Function;

/// A trait.
pub(crate) struct Trait {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) safety: Option<Token![unsafe]>,
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) supertraits: Punctuated<TypeParamBound, Token![+]>,
    pub(crate) members: Vec<Member>,
}

/// A member of a trait.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Member {
    Method(Method),
    Other(TraitItem),
    /// Generated members.
    Ours(TokenStream),
}

/// A function of a trait.
pub(crate) struct Method {
    /// The function, with a placeholder body if it has no default one.
    pub(crate) function: Function,
    pub(crate) is_provided: bool,
}

impl Trait {
    /// The attributes that apply to the types next to the trait too: `cfg` and lint levels.
    pub(crate) fn shared(&self) -> Vec<Attribute> {
        let attributes = self.attributes.iter();
        let cfg = attributes.filter(|attribute| attribute.path().is_ident("cfg"));
        cfg.cloned()
            .chain(lints::levels_beside(&self.attributes))
            .collect()
    }

    /// The functions of the trait.
    pub(crate) fn methods(&mut self) -> impl Iterator<Item = &mut Method> {
        self.members.iter_mut().filter_map(|member| match member {
            Member::Method(method) => Some(method),
            Member::Other(_) | Member::Ours(_) => None,
        })
    }
}

impl Member {
    /// The signature of a function with a default body.
    pub(crate) fn provided(&self) -> Option<&Signature> {
        match self {
            Self::Method(method) if method.is_provided => Some(&method.function.signature),
            _ => None,
        }
    }
}

impl Parse for Trait {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let safety = input.parse()?;
        if !input.peek(Token![trait]) {
            let instead = if input.peek(Token![impl]) {
                "; an `impl` takes `#[mcp_tool]`"
            } else {
                ""
            };
            let message = format!("`#[mcp_client]` can only be applied to a trait{instead}");
            return Err(input.error(message));
        }
        input.parse::<Token![trait]>()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let mut supertraits = Punctuated::new();
        if input.parse::<Option<Token![:]>>()?.is_some() {
            while !input.peek(Token![where]) && !input.peek(syn::token::Brace) {
                supertraits.push_value(input.parse()?);
                match input.parse::<Option<Token![+]>>()? {
                    Some(plus) => supertraits.push_punct(plus),
                    None => break,
                }
            }
        }
        generics.where_clause = input.parse()?;
        let content;
        braced!(content in input);
        attributes.extend(content.call(Attribute::parse_inner)?);
        let mut members = Vec::new();
        while !content.is_empty() {
            members.push(content.parse()?);
        }
        Ok(Self {
            attributes,
            visibility,
            safety,
            ident,
            generics,
            supertraits,
            members,
        })
    }
}

impl Parse for Member {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if Function::peek(input)? {
            input.parse().map(Self::Method)
        } else {
            input.parse().map(Self::Other)
        }
    }
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut function: Function = input.parse()?;
        // A method of a trait needs no body.
        let is_provided = function.missing.take().is_none();
        Ok(Self {
            function,
            is_provided,
        })
    }
}

impl ToTokens for Trait {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self {
            attributes,
            visibility,
            safety,
            ident,
            generics,
            supertraits,
            members,
        } = self;
        let where_clause = &generics.where_clause;
        let colon = (!supertraits.is_empty()).then(|| quote!(:));
        let (outer, inner): (Vec<_>, Vec<_>) = attributes
            .iter()
            .partition(|attribute| matches!(attribute.style, syn::AttrStyle::Outer));
        tokens.extend(quote! {
            #(#outer)*
            #visibility #safety trait #ident #generics #colon #supertraits #where_clause {
                #(#inner)*
                #(#members)*
            }
        });
    }
}

impl ToTokens for Member {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Method(method) => method.to_tokens(tokens),
            Self::Other(item) => item.to_tokens(tokens),
            Self::Ours(ours) => ours.to_tokens(tokens),
        }
    }
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        if self.is_provided {
            return self.function.to_tokens(tokens);
        }
        let Function {
            attributes,
            visibility,
            signature,
            ..
        } = &self.function;
        tokens.append_all(attributes);
        quote!(#visibility #signature;).to_tokens(tokens);
    }
}
