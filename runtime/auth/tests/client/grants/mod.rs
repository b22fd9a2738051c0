//! Grants without a user.

mod client_credentials;
mod enterprise;
mod workload;

use treenail::auth::testing::Endpoint;

use crate::fixture::World;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn assert_no_user(world: &World) {
    for endpoint in [Endpoint::Authorization, Endpoint::Registration] {
        assert!(world.authorization.requests_at(endpoint).is_empty());
    }
}
