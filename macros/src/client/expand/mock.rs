//! The mock: a server half with answers from a test.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::expand::allow_deprecated;
use crate::tool::model::Input;

use super::super::model::{Contract, Entry, Parameter, Part, Tool};
use super::super::parse::Trait;
use super::client::{arguments, returned};

/// Expands to
/// ```text
/// pub struct MockWeatherApi {
///     mcp_calls: ::treenail::__private_0_1_0::MockCalls,
///     forecast: Option<Arc<dyn Fn(String) -> Result<Forecast, E> + Send + Sync>>,
///     …
/// }
/// impl MockWeatherApi { pub fn new() …; pub fn on_forecast(…) …; pub fn calls(&self) …; pub async fn client(&self) … }
/// impl WeatherApi for MockWeatherApi { … }
/// impl ::treenail::server::Mount for MockWeatherApi { … }
/// ```
pub(super) fn mock(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let inherent = inherent(krate, contract, item);
    let (cfg, ident) = (item.cfg(), &item.ident);
    let mock = format_ident!("Mock{ident}");
    let methods = contract
        .methods
        .iter()
        .map(|entry| method(krate, entry, &mock));
    let mount = mount(krate, item, &mock);
    let allow = allow_deprecated(contract.methods.iter().map(Entry::is_deprecated));
    let cfg: Vec<_> = cfg.collect();
    quote! {
        #inherent

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #ident for #mock {
            #(#methods)*
        }

        #mount
    }
}

/// The mock as a server half. Expands to
/// ```text
/// impl ::treenail::server::Mount for MockWeatherApi { … }
/// ```
fn mount(krate: &Krate, item: &Trait, mock: &Ident) -> TokenStream {
    let (cfg, of) = (item.cfg(), &item.ident);
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #krate::server::Mount for #mock {
            const NAMESPACE: &'static str = <Self as #of>::MCP_CONTRACT.namespace;
            const INSTRUCTIONS: &'static str = <Self as #of>::MCP_CONTRACT.instructions;

            fn tools() -> ::std::vec::Vec<#krate::tool::ToolDefinition<Self>> {
                #krate::__private_0_1_0::fail_without_answer((<Self as #of>::MCP_CONTRACT.tools)())
            }
        }
    }
}

/// The implementation of `Mocked`, which reports missing answers. Expands to
/// ```text
/// impl ::treenail::__private_0_1_0::Mocked for MockWeatherApi {
///     fn empty() -> Self { Self::new() }
///     fn missing(&self, __tool: &str) -> Option<String> {
///         if __tool == "forecast" && self.forecast.is_none() { return Some(…); }
///         if let Some(__tool) = __tool.strip_prefix("alerts.") { return self.alerts.missing(__tool); }
///         None
///     }
/// }
/// ```
fn mocked(krate: &Krate, contract: &Contract, item: &Trait, mock: &Ident) -> TokenStream {
    let checks = contract
        .methods
        .iter()
        .map(|entry| missing_check(krate, entry, mock));
    let cfg = item.cfg();
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #krate::__private_0_1_0::Mocked for #mock {
            fn empty() -> Self {
                Self::new()
            }

            #[allow(unused_variables, reason = "methods may be disabled by `cfg`")]
            fn missing(&self, __tool: &str) -> ::core::option::Option<::std::string::String> {
                #(#checks)*
                ::core::option::Option::None
            }
        }
    }
}

/// Emits the check for a missing answer of one method.
fn missing_check(krate: &Krate, entry: &Entry, mock: &Ident) -> TokenStream {
    let (cfg, field) = (entry.cfg(), &entry.signature().ident);
    match entry {
        Entry::Tool(tool) => {
            let (name, mock) = (&tool.feature.name.text, mock.to_string());
            let method = field.unraw().to_string();
            quote! {
                #(#cfg)*
                if __tool == #name && ::core::option::Option::is_none(&self.#field) {
                    return ::core::option::Option::Some(#krate::__private_0_1_0::missing_answer(#mock, #method));
                }
            }
        }
        Entry::Part(part) => {
            let prefix = format!("{}.", part.name.text);
            quote! {
                #(#cfg)*
                if let ::core::option::Option::Some(__tool) = __tool.strip_prefix(#prefix) {
                    return #krate::__private_0_1_0::Mocked::missing(&self.#field, __tool);
                }
            }
        }
    }
}

/// The type and its inherent methods.
pub(super) fn inherent(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let (vis, ident) = (&item.visibility, &item.ident);
    let mock = format_ident!("Mock{ident}");
    let fields = contract.methods.iter().map(|entry| field(krate, entry));
    let initializers = contract
        .methods
        .iter()
        .map(|entry| initializer(krate, entry));
    let setters = contract
        .methods
        .iter()
        .map(|entry| setter(krate, entry, item));
    let connect = connect(krate, contract, item);
    let mocked = mocked(krate, contract, item, &mock);
    let name = mock.to_string();
    let doc = format!(
        "Mock of [`{ident}`] for tests, with the answers that the `on_…` methods set. Clones share the list of recorded \
        calls."
    );
    let cfg: Vec<_> = item.cfg().collect();
    quote! {
        #(#cfg)*
        #[doc = #doc]
        #[derive(::core::clone::Clone)]
        #[allow(dead_code, clippy::type_complexity, reason = "a crate may not use all of it")]
        #vis struct #mock {
            mcp_calls: #krate::__private_0_1_0::MockCalls,
            #(#fields)*
        }

        #(#cfg)*
        #[allow(
            dead_code,
            clippy::new_without_default,
            clippy::type_complexity,
            reason = "a crate may not use all of it"
        )]
        impl #mock {
            /// Creates a mock without answers. A call without an answer panics; through a server, the caller gets the reason.
            #[must_use]
            #vis fn new() -> Self {
                Self {
                    mcp_calls: #krate::__private_0_1_0::MockCalls::new(),
                    #(#initializers)*
                }
            }

            /// The recorded calls, oldest first. The mock of a namespace records its own calls.
            #[must_use]
            #vis fn calls(&self) -> ::std::vec::Vec<#krate::client::MockCall> {
                self.mcp_calls.all()
            }

            #connect
            #(#setters)*
        }

        #(#cfg)*
        #[automatically_derived]
        impl ::core::fmt::Debug for #mock {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                formatter.debug_struct(#name).field("calls", &self.mcp_calls).finish_non_exhaustive()
            }
        }

        #mocked
    }
}

/// Emits the function that connects a client with a server of the mock.
fn connect(krate: &Krate, contract: &Contract, item: &Trait) -> Option<TokenStream> {
    let (vis, client) = (&item.visibility, format_ident!("{}Client", item.ident));
    (!contract.methods.is_empty()).then(|| {
        quote! {
            /// Connects a client of the trait to an in-memory server with this mock.
            ///
            /// # Errors
            ///
            /// Fails if the server cannot be built because of a name or a default in the trait.
            #vis async fn client(&self) -> #krate::Result<#client> {
                let client = #krate::__private_0_1_0::connect(::core::clone::Clone::clone(self)).await?;
                ::core::result::Result::Ok(#client::new(&client))
            }
        }
    })
}

/// `dyn Fn(String) -> Result<Forecast, E> + Send + Sync`
fn answer(krate: &Krate, tool: &Tool) -> TokenStream {
    let inputs = tool.parameters.iter().map(|parameter| &parameter.ty);
    let returned = returned(tool);
    let returned = if tool.feature.stream.is_some() {
        quote!(#krate::__private_0_1_0::MockStream<#returned>)
    } else {
        quote!(#returned)
    };
    quote! {
        dyn ::core::ops::Fn(#(#inputs),*) -> #returned + ::core::marker::Send + ::core::marker::Sync
    }
}

/// The mock of a part's trait, found through its client, so that a trait that is not a contract causes only one error.
fn mock_of(krate: &Krate, part: &Part) -> TokenStream {
    let client = part.client();
    quote_spanned!(client.span()=> <#client as #krate::__private_0_1_0::ClientOf>::Mock)
}

fn field(krate: &Krate, entry: &Entry) -> TokenStream {
    let (cfg, ident) = (entry.cfg(), &entry.signature().ident);
    let ty = match entry {
        Entry::Tool(tool) => {
            let answer = answer(krate, tool);
            quote!(::core::option::Option<::std::sync::Arc<#answer>>)
        }
        Entry::Part(part) => {
            let mock = mock_of(krate, part);
            quote!(#mock)
        }
    };
    quote!(#(#cfg)* #ident: #ty,)
}

fn initializer(krate: &Krate, entry: &Entry) -> TokenStream {
    let (cfg, ident) = (entry.cfg(), &entry.signature().ident);
    let value = match entry {
        Entry::Tool(_) => quote!(::core::option::Option::None),
        Entry::Part(_) => quote!(#krate::__private_0_1_0::Mocked::empty()),
    };
    quote!(#(#cfg)* #ident: #value,)
}

/// The method that sets the answer: `on_forecast`.
fn setter(krate: &Krate, entry: &Entry, item: &Trait) -> TokenStream {
    let (cfg, vis, ident) = (entry.cfg(), &item.visibility, &entry.signature().ident);
    let (setter, name) = (setter_name(ident), ident.to_string());
    let function = match entry {
        Entry::Part(part) => {
            let mock = mock_of(krate, part);
            let doc = format!("Sets the mock that `{name}` returns.");
            quote! {
                #[doc = #doc]
                #[must_use]
                #vis fn #setter(mut self, answer: #mock) -> Self {
                    self.#ident = answer;
                    self
                }
            }
        }
        Entry::Tool(tool) if tool.feature.stream.is_some() => items_setter(krate, tool, item),
        Entry::Tool(tool) => {
            let inputs = tool.parameters.iter().map(|parameter| &parameter.ty);
            let returned = returned(tool);
            let doc = format!(
                "Sets the function that computes the output of `{name}` from the arguments."
            );
            quote! {
                #[doc = #doc]
                #[must_use]
                #vis fn #setter(
                    mut self,
                    answer: impl ::core::ops::Fn(#(#inputs),*) -> #returned
                        + ::core::marker::Send
                        + ::core::marker::Sync
                        + 'static,
                ) -> Self {
                    self.#ident = ::core::option::Option::Some(::std::sync::Arc::new(answer));
                    self
                }
            }
        }
    };
    quote!(#(#cfg)* #function)
}

/// Like [`setter`], for a tool that streams.
fn items_setter(krate: &Krate, tool: &Tool, item: &Trait) -> TokenStream {
    let (vis, ident) = (&item.visibility, &tool.feature.signature.ident);
    let (setter, returned) = (setter_name(ident), returned(tool));
    let types: Vec<_> = tool
        .parameters
        .iter()
        .map(|parameter| &parameter.ty)
        .collect();
    let names: Vec<_> = tool
        .parameters
        .iter()
        .map(|parameter| &parameter.ident)
        .collect();
    let doc = format!("Sets the function that computes the items of `{ident}` from the arguments.");
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #setter<__Items>(
            mut self,
            __answer: impl ::core::ops::Fn(#(#types),*) -> __Items
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
        ) -> Self
        where
            __Items: ::core::iter::IntoIterator<Item = #returned>,
            __Items::IntoIter: ::core::marker::Send + 'static,
        {
            self.#ident = ::core::option::Option::Some(::std::sync::Arc::new(
                move |#(#names: #types),*| #krate::__private_0_1_0::MockStream::new(__answer(#(#names),*)),
            ));
            self
        }
    }
}

fn setter_name(method: &Ident) -> Ident {
    format_ident!("on_{}", method.unraw(), span = method.span())
}

/// A method of the trait.
fn method(krate: &Krate, entry: &Entry, mock: &Ident) -> TokenStream {
    let (cfg, ident) = (entry.cfg(), &entry.signature().ident);
    let tool = match entry {
        Entry::Part(part) => {
            let (of, ty) = (mock_of(krate, part), part.type_ident());
            return quote! {
                #(#cfg)*
                type #ty = #of;

                #(#cfg)*
                fn #ident(&self) -> &Self::#ty {
                    &self.#ident
                }
            };
        }
        Entry::Tool(tool) => tool,
    };
    let mut given = tool.parameters.iter();
    let inputs = tool.feature.inputs.iter().map(|input| match input {
        Input::Call(call) => {
            let ty = &call.ty;
            quote!(_: #ty)
        }
        Input::Argument(_) => {
            let parameter = given
                .next()
                .map(|Parameter { ident, ty, .. }| quote!(#ident: #ty));
            quote!(#parameter)
        }
    });
    let signature = &tool.feature.signature;
    let (asyncness, output) = (&signature.asyncness, &signature.output);
    let (name, mock, method) = (
        &tool.feature.name.text,
        mock.to_string(),
        ident.unraw().to_string(),
    );
    let names = tool.parameters.iter().map(|parameter| &parameter.ident);
    let arguments = arguments(krate, &tool.parameters);
    quote! {
        #(#cfg)*
        #asyncness fn #ident(&self, #(#inputs),*) #output {
            self.mcp_calls.record(#name, &#arguments);
            match &self.#ident {
                ::core::option::Option::Some(__answer) => __answer(#(#names),*),
                ::core::option::Option::None => #krate::__private_0_1_0::panic_without_answer(#mock, #method),
            }
        }
    }
}
