//! A contract whose trait extends the trait of another.

use std::sync::Arc;

use treenail::prelude::*;
use treenail::schema::Revision;

use super::station::client;

#[mcp_client]
trait AuditApi {
    /// Number of entries.
    async fn count(&self) -> Result<u32, ToolError>;
}

/// Users.
#[mcp_client(namespace = "user")]
trait UserApi {
    /// Lists the users.
    async fn list(&self) -> Result<Vec<String>, ToolError>;

    #[namespace]
    fn audit(&self) -> &impl AuditApi;
}

/// Administrators, who are users.
#[mcp_client(namespace = "admin")]
trait AdminApi: UserApi {
    /// Removes all users, and returns their number.
    async fn purge(&self) -> Result<usize, ToolError> {
        Ok(UserApi::list(self).await?.len())
    }

    /// Lists the administrators.
    async fn list(&self) -> Result<Vec<String>, ToolError>;

    #[namespace]
    fn audit(&self) -> &impl AuditApi;
}

struct Audit(u32);

#[mcp_tool]
impl AuditApi for Audit {
    async fn count(&self) -> Result<u32, ToolError> {
        Ok(self.0)
    }
}

/// Implements both traits. A type has the tools of one, so the others are those of a second type.
struct Office {
    of_users: Audit,
    of_admins: Audit,
}

impl UserApi for Office {
    type Audit = Audit;

    async fn list(&self) -> Result<Vec<String>, ToolError> {
        Ok(vec!["ada".to_owned(), "bob".to_owned()])
    }

    fn audit(&self) -> &Audit {
        &self.of_users
    }
}

#[mcp_tool]
impl AdminApi for Office {
    async fn list(&self) -> Result<Vec<String>, ToolError> {
        Ok(vec!["root".to_owned()])
    }

    fn audit(&self) -> &Audit {
        &self.of_admins
    }
}

struct Users(Arc<Office>);

#[mcp_tool]
impl UserApi for Users {
    async fn list(&self) -> Result<Vec<String>, ToolError> {
        UserApi::list(&*self.0).await
    }

    fn audit(&self) -> &Audit {
        UserApi::audit(&*self.0)
    }
}

/// The mock of the extended trait is no mock of its supertrait, which needs an implementation.
impl UserApi for MockAdminApi {
    type Audit = MockAuditApi;

    async fn list(&self) -> Result<Vec<String>, ToolError> {
        Ok(Vec::new())
    }

    fn audit(&self) -> &MockAuditApi {
        AdminApi::audit(self)
    }
}

#[tokio::test]
async fn a_contract_can_extend_another() {
    let office = Arc::new(Office {
        of_users: Audit(1),
        of_admins: Audit(2),
    });
    let server = treenail::server!();
    let server = server.mount(Users(Arc::clone(&office))).mount(office);
    let server = server.build().unwrap();
    for revision in Revision::ALL {
        let client = client(&server, revision).await;
        let (users, admins) = (UserApiClient::new(&client), AdminApiClient::new(&client));
        assert_eq!(users.list().await.unwrap(), ["ada", "bob"]);
        assert_eq!(admins.list().await.unwrap(), ["root"]);
        assert_eq!(admins.purge().await.unwrap(), 2);
        assert_eq!(users.audit().count().await.unwrap(), 1);
        assert_eq!(admins.audit().count().await.unwrap(), 2);
    }
}

#[tokio::test]
async fn the_mock_of_an_extended_contract_is_a_server() {
    let mock = MockAdminApi::new().on_list(|| Ok(vec!["mock".to_owned()]));
    let server = treenail::server!().mount(mock.on_purge(|| Ok(3))).build();
    let client = client(&server.unwrap(), Revision::LATEST).await;
    let admins = AdminApiClient::new(&client);
    assert_eq!(admins.list().await.unwrap(), ["mock"]);
    assert_eq!(admins.purge().await.unwrap(), 3);
    assert!(
        AdminApiClient::contract()
            .unwrap()
            .tool("user.list")
            .is_none()
    );
}
