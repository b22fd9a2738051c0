//! Capabilities of clients that a proxy passes on.

use treenail_schema::{ClientCapabilities, JsonObject};

/// Extension of the protocol that needs nothing from a proxy. Others change the methods or results of a server.
const PASSED_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Returns the capabilities of a caller that a proxy passes on.
pub(super) fn passed_capabilities(capabilities: &ClientCapabilities) -> ClientCapabilities {
    let mut passed = ClientCapabilities::new();
    passed.elicitation.clone_from(&capabilities.elicitation);
    passed.sampling.clone_from(&capabilities.sampling);
    passed.roots.clone_from(&capabilities.roots);
    let extension = capabilities.extensions.as_ref();
    if let Some(settings) = extension.and_then(|all| all.get(PASSED_EXTENSION)) {
        passed.extensions = Some([(PASSED_EXTENSION.to_owned(), settings.clone())].into());
    }
    passed
}

/// Returns the capabilities that are declared to servers of the legacy era, whose clients are not known at the handshake.
pub(crate) fn all_capabilities() -> ClientCapabilities {
    use treenail_schema::{
        ClientCapabilitiesElicitation, ClientCapabilitiesRoots, ClientCapabilitiesSampling,
    };

    let elicitation = ClientCapabilitiesElicitation::new()
        .with_form(JsonObject::new())
        .with_url(JsonObject::new());
    let mut sampling = ClientCapabilitiesSampling::new();
    sampling.tools = Some(JsonObject::new());
    ClientCapabilities::new()
        .with_elicitation(elicitation)
        .with_sampling(sampling)
        .with_roots(ClientCapabilitiesRoots::new())
}
