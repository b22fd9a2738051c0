//! Connections in the same process, with the grant of a token.

use treenail_runtime::{Access, Connection, Principal, Server};

use super::authorizer::Authorizer;
use super::{Grant, ResourceServer, VerifiedToken};
use crate::AuthError;

impl ResourceServer {
    /// Connects to a server in the same process with the grant of a token, for tests and for transports of your own.
    ///
    /// The scopes of functions are enforced as over HTTP. The token is not checked again during the connection.
    ///
    /// ```
    /// use serde_json::json;
    /// use treenail::auth::ResourceServer;
    /// use treenail::auth::testing::TestAuthorizationServer;
    /// use treenail::prelude::*;
    ///
    /// /// Adds two integers.
    /// #[mcp_tool(scope = "math")]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let resource = "https://mcp.example.com/mcp";
    /// let authorization_server = TestAuthorizationServer::builder().resource(resource).build();
    /// let server = treenail::server!().tools(tools![add]).build()?;
    /// let authorization = ResourceServer::new(resource)
    ///     .issuer(authorization_server.issuer())
    ///     .scopes(["math"]);
    ///
    /// let token = authorization_server.token("alice").scope("math").verified();
    /// let connection = authorization.connect(&server, token)?;
    /// let client = McpClient::builder().connection(connection).build().await?;
    /// let sum: i64 = client.call_tool_as("add", json!({"a": 1, "b": 2})).await?;
    /// assert_eq!(sum, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the configuration is invalid, or the token is of another issuer, for another resource, or
    /// has expired.
    pub fn connect(&self, server: &Server, token: VerifiedToken) -> Result<Connection, AuthError> {
        let (principal, access, grant) = Authorizer::new(self, server)?.admit(token)?;
        let mut connection = server.connect();
        let extensions = connection.extensions_mut();
        extensions.insert::<Principal>(principal);
        extensions.insert::<Access>(access);
        extensions.insert::<Grant>(grant);
        Ok(connection)
    }
}
