//! The mock: a server half with answers from a test.

mod answer;
mod missing;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::expand::allow_deprecated;
use crate::tool::model::Input;

use self::answer::{answer, setter};
use self::missing::mocked;
use super::super::model::{Contract, Entry, Parameter, Part, Tool};
use super::super::parse::Trait;
use super::client::arguments;

/// Expands to
/// ```text
/// pub struct MockWeatherApi {
///     __calls: ::treenail::__private_0_1_0::MockCalls,
///     forecast: Option<Arc<dyn Fn(String) -> Result<Forecast, E> + Send + Sync>>,
///     …
/// }
/// impl MockWeatherApi { pub fn new() …; pub fn on_forecast(…) …; pub fn calls(&self) …; pub async fn client(&self) … }
/// impl WeatherApi for MockWeatherApi { … }
/// impl ::treenail::server::Mount for MockWeatherApi { … }
/// ```
pub(super) fn mock(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let inherent = inherent(krate, contract, item);
    let (cfg, ident) = (item.shared(), &item.ident);
    let mock = format_ident!("Mock{}", item.ident);
    let methods = contract
        .methods
        .iter()
        .map(|entry| method(krate, entry, (ident, &mock)));
    let mount = mount(krate, item, &mock);
    let allow = allow_deprecated(contract.methods.iter().map(Entry::is_deprecated));
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
    let (cfg, of) = (item.shared(), &item.ident);
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #krate::server::Mount for #mock {
            const NAMESPACE: &'static ::core::primitive::str = <Self as #of>::MCP_CONTRACT.namespace;
            const INSTRUCTIONS: &'static ::core::primitive::str = <Self as #of>::MCP_CONTRACT.instructions;

            fn tools() -> ::std::vec::Vec<#krate::tool::ToolDefinition<Self>> {
                #krate::__private_0_1_0::fail_without_answer((<Self as #of>::MCP_CONTRACT.tools)())
            }
        }
    }
}

/// The type and its inherent methods.
pub(super) fn inherent(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let mock = format_ident!("Mock{}", item.ident);
    let definition = definition(krate, contract, item, &mock);
    let inherent_impl = inherent_impl(krate, contract, item, &mock);
    let debug = debug(item, &mock);
    let mocked = mocked(krate, contract, item, &mock);
    quote! {
        #definition
        #inherent_impl
        #debug
        #mocked
    }
}

/// The definition of the type.
fn definition(krate: &Krate, contract: &Contract, item: &Trait, mock: &Ident) -> TokenStream {
    let (cfg, vis, ident) = (item.shared(), &item.visibility, &item.ident);
    let fields = contract.methods.iter().map(|entry| field(krate, entry));
    let doc = format!(
        "Mock of [`{ident}`] for tests, with the answers that the `on_…` methods set. Clones share the list of recorded \
        calls."
    );
    quote! {
        #(#cfg)*
        #[doc = #doc]
        #[derive(::core::clone::Clone)]
        #[allow(
            dead_code,
            clippy::missing_docs_in_private_items,
            clippy::type_complexity,
            reason = "a crate may not use all of it, and sees none of the fields"
        )]
        #vis struct #mock {
            __calls: #krate::__private_0_1_0::MockCalls,
            #(#fields)*
        }
    }
}

fn inherent_impl(krate: &Krate, contract: &Contract, item: &Trait, mock: &Ident) -> TokenStream {
    let (cfg, vis) = (item.shared(), &item.visibility);
    let initializers = contract
        .methods
        .iter()
        .map(|entry| initializer(krate, entry));
    let connect = connect(krate, item);
    let setters = contract
        .methods
        .iter()
        .map(|entry| setter(krate, entry, item));
    quote! {
        #(#cfg)*
        #[allow(
            dead_code,
            clippy::impl_trait_in_params,
            clippy::new_without_default,
            clippy::type_complexity,
            reason = "a crate may not use all of it"
        )]
        #[allow(non_snake_case, reason = "`_2d` has the setter `on__2d`")]
        impl #mock {
            /// Creates a mock without answers. A call without an answer panics; through a server, the caller gets the reason.
            #[must_use]
            #vis fn new() -> Self {
                Self {
                    __calls: #krate::__private_0_1_0::MockCalls::new(),
                    #(#initializers)*
                }
            }

            /// The recorded calls, oldest first. The mock of a namespace records its own calls.
            #[must_use]
            #vis fn calls(&self) -> ::std::vec::Vec<#krate::client::MockCall> {
                self.__calls.all()
            }

            #connect
            #(#setters)*
        }
    }
}

/// The implementation of `Debug`, which omits the answers.
fn debug(item: &Trait, mock: &Ident) -> TokenStream {
    let (cfg, name) = (item.shared(), mock.to_string());
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl ::core::fmt::Debug for #mock {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                formatter.debug_struct(#name).field("calls", &self.__calls).finish_non_exhaustive()
            }
        }
    }
}

/// Emits the function that connects a client with a server of the mock.
fn connect(krate: &Krate, item: &Trait) -> TokenStream {
    let (vis, client) = (&item.visibility, format_ident!("{}Client", item.ident));
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
}

/// The mock of a part's trait, found through its client, so that a trait that is not a contract causes only one error.
fn mock_of(krate: &Krate, part: &Part) -> TokenStream {
    let client = part.client();
    quote_spanned!(client.span()=> <#client as #krate::__private_0_1_0::ClientOf>::Mock)
}

fn field(krate: &Krate, entry: &Entry) -> TokenStream {
    let (cfg, ident) = (entry.shared(), &entry.signature().ident);
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

/// A method of the trait.
pub(super) fn method(
    krate: &Krate,
    entry: &Entry,
    (of_trait, mock): (&Ident, &Ident),
) -> TokenStream {
    match entry {
        Entry::Tool(tool) => tool_method(krate, tool, mock),
        Entry::Part(part) => part_method(krate, part, of_trait),
    }
}

/// The method for a tool, which records the call and computes the answer.
fn tool_method(krate: &Krate, tool: &Tool, mock: &Ident) -> TokenStream {
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
    let (asyncness, ident, output) = (&signature.asyncness, &signature.ident, &signature.output);
    let (cfg, name) = (tool.feature.shared(), &tool.feature.name.text);
    let (mock, method) = (mock.to_string(), ident.unraw().to_string());
    let names = tool.parameters.iter().map(|parameter| &parameter.ident);
    let arguments = arguments(krate, &tool.parameters);
    quote! {
        #(#cfg)*
        #asyncness fn #ident(&self, #(#inputs),*) #output {
            self.__calls.record(#name, &#arguments);
            match &self.#ident {
                ::core::option::Option::Some(__answer) => __answer(#(#names),*),
                ::core::option::Option::None => #krate::__private_0_1_0::panic_without_answer(#mock, #method),
            }
        }
    }
}

/// The method for a part, which returns its mock, and the associated type.
fn part_method(krate: &Krate, part: &Part, of_trait: &Ident) -> TokenStream {
    let (cfg, ident) = (part.shared(), &part.signature.ident);
    let (of, ty) = (mock_of(krate, part), part.type_ident());
    quote! {
        #(#cfg)*
        type #ty = #of;

        #(#cfg)*
        fn #ident(&self) -> &<Self as #of_trait>::#ty {
            &self.#ident
        }
    }
}
