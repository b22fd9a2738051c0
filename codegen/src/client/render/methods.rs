//! The client and its methods.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::text::{RenderError, Text};
use super::types::{Scope, reason};
use super::{Input, allowed};
use crate::client::docs::{Docs, code, inline};
use crate::client::name::ident;
use crate::client::plan::{Call, Method};
use crate::client::schema::Shape;

impl Input<'_> {
    pub(super) fn client(&self, output: &mut Text) -> Result<(), RenderError> {
        let (krate, lock) = (self.krate, self.lock);
        let name = format_ident!("{}", self.client);
        let allowed = allowed(&TokenStream::new());
        let mut docs = Docs::default();
        let version = lock
            .server_version
            .as_ref()
            .map(|version| format!(" {}", code(version)));
        docs.add(&format!(
            "The tools, prompts and resource templates of the server {}{}.",
            code(&lock.server),
            version.unwrap_or_default()
        ));
        docs.add("It is cheap to clone; the clones share the connection.");
        let docs = docs.render("");
        output.items(quote! {
            #docs
            #allowed
            #[derive(::core::clone::Clone, ::core::fmt::Debug)]
            pub struct #name { client: #krate::client::McpClient }
        })?;
        self.methods(output)
    }

    /// Adds the inherent methods.
    fn methods(&self, output: &mut Text) -> Result<(), RenderError> {
        let krate = self.krate;
        let name = format_ident!("{}", self.client);
        let allowed = allowed(&quote! {
            clippy::needless_pass_by_value,
            clippy::should_implement_trait,
            clippy::type_complexity,
            clippy::wrong_self_convention,
            clippy::zero_sized_map_values,
        });
        let text = self.lock.text();
        output.open(quote! {
            #allowed
            impl #name {
                /// The lock file from which this client was generated.
                pub const LOCK: &'static str = #text;

                /// Creates a typed client that uses the connection of `client`.
                #[must_use]
                pub fn new(client: &#krate::client::McpClient) -> Self {
                    Self { client: ::core::clone::Clone::clone(client) }
                }

                /// Returns the underlying client.
                #[must_use]
                pub fn client(&self) -> &#krate::client::McpClient {
                    &self.client
                }
            }
        })?;
        for method in &self.plan.methods {
            output.in_impl(&self.method(method))?;
        }
        output.close()
    }

    fn method(&self, method: &Method) -> TokenStream {
        let krate = self.krate;
        let (name, remote) = (ident(&method.name), &method.remote);
        let parameter = method.arguments.as_ref().map(|shape| {
            let ty = self.ty(shape, Scope::Outside);
            quote! { , arguments: #ty }
        });
        let given = parameter.as_ref().map(|_| quote! { &arguments });
        let function = match &method.call {
            Call::Tool(output) => {
                let (call, ty) = self.tool_call(output.as_ref());
                // Some servers require an object even without arguments.
                let arguments = given.unwrap_or_else(|| quote! { types::JsonObject::new() });
                quote! {
                    pub fn #name(&self #parameter) -> #krate::client::TypedCall<#ty> {
                        #krate::client::TypedCall::#call(&self.client, #remote, #arguments)
                    }
                }
            }
            Call::Prompt => {
                let arguments = given.unwrap_or_else(|| quote! { () });
                quote! {
                    pub fn #name(&self #parameter) -> #krate::client::ClientRequest<#krate::schema::GetPromptRequest> {
                        self.client.get_prompt(#remote, #arguments)
                    }
                }
            }
            Call::Template(uri) => {
                let body = self.read(uri, &given.unwrap_or_else(|| quote! { () }));
                quote! {
                    pub async fn #name(&self #parameter) -> ::core::result::Result<
                        ::std::sync::Arc<#krate::schema::ReadResourceResult>,
                        #krate::client::ClientError,
                    > { #body }
                }
            }
        };
        let docs = docs(method).render("");
        quote! { #docs #function }
    }

    /// The constructor of a call, and the type of its output.
    fn tool_call(&self, output: Option<&Shape>) -> (TokenStream, TokenStream) {
        let krate = self.krate;
        match output {
            Some(shape) => (quote! { new }, self.ty(shape, Scope::Outside)),
            None => (quote! { whole }, quote! { #krate::schema::CallToolResult }),
        }
    }

    /// Emits the code that expands the template and reads the resource.
    fn read(&self, uri: &str, arguments: &TokenStream) -> TokenStream {
        let krate = self.krate;
        quote! {
            let uri = #krate::__generated::url_template(#uri).expand(#arguments)?;
            self.client.read_resource(&uri).await
        }
    }
}

/// The documentation of a method, with notes about JSON of any form and about errors.
fn docs(method: &Method) -> Docs {
    let mut docs = method.docs.clone();
    if let Some(reason) = method.arguments.as_ref().and_then(reason) {
        docs.add(&format!(
            "Its arguments are any JSON, because {}.",
            inline(reason)
        ));
    }
    match &method.call {
        Call::Tool(output) => {
            if let Some(reason) = output.as_ref().and_then(reason) {
                docs.add(&format!(
                    "Its output is any JSON, because {}.",
                    inline(reason)
                ));
            }
        }
        Call::Prompt => {}
        Call::Template(_) => {
            docs.add("# Errors");
            docs.add("As `McpClient::read_resource`.");
        }
    }
    docs
}
