//! Skills of other servers.
//!
//! `entry` has the types of lists, `load` reads and verifies files, `compare` is the comparison of front matter, and `reference`
//! resolves paths.

mod compare;
mod entry;
mod error;
mod load;
mod reference;

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_runtime::client::{ClientError, McpClient};
use treenail_runtime::internal::client_limits;
use treenail_runtime::internal::timeout::timeout;

pub use self::entry::{SkillEntry, SkillFile, SkillResources};
pub use self::error::SkillError;
pub use self::load::LoadedSkill;
use crate::ID;

/// Skills for clients. It is part of the prelude.
#[cfg(feature = "client")]
pub trait SkillClientExt {
    /// Returns the skills of the server. Nothing is sent until they are used.
    ///
    /// ```
    /// use treenail::client::McpClient;
    /// use treenail::prelude::*;
    ///
    /// # async fn example(client: McpClient) -> treenail::Result<()> {
    /// let skills = client.skills();
    /// for entry in skills.list().await? {
    ///     println!("{}: {}", entry.name(), entry.description());
    /// }
    /// let entry = skills.get("skill://plan-trip/SKILL.md").await?;
    /// let skill = skills.load(&entry).await?;
    /// println!("{}", skill.instructions());
    /// let visa = skill.read("references/visa.md").await?;
    /// # Ok(())
    /// # }
    /// ```
    fn skills(&self) -> SkillClient;
}

impl SkillClientExt for McpClient {
    fn skills(&self) -> SkillClient {
        SkillClient {
            client: self.clone(),
        }
    }
}

/// Skills of a server (extension `io.modelcontextprotocol/skills`), from [`SkillClientExt::skills`].
///
/// It verifies the files of a skill against the entry that the server has sent for it. The entry is the server's own, so this
/// finds changes and mistakes, and is no protection from the server. These belong to the program: the user's approval, the label of
/// the server beside each skill, and the treatment of the instructions as untrusted input.
#[cfg(feature = "client")]
#[derive(Clone, Debug)]
pub struct SkillClient {
    client: McpClient,
}

#[derive(Deserialize)]
struct ListPage {
    #[serde(deserialize_with = "entry::entries")]
    skills: Vec<SkillEntry>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct GetResult {
    skill: SkillEntry,
}

impl SkillClient {
    /// Lists the skills, all pages of them, and reads no file. A server may have skills that it does not list. An entry without a URI,
    /// or whose front matter is no object, is skipped.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unsupported`] if the server has no skills. [`ClientError::Protocol`] if the list exceeds the
    /// [`ListLimits`](treenail_runtime::client::ListLimits) of the client. Any other [`ClientError`].
    pub async fn list(&self) -> Result<Vec<SkillEntry>, ClientError> {
        let limit = client_limits(&self.client).request_timeout;
        timeout(limit, self.list_pages()).await?
    }

    async fn list_pages(&self) -> Result<Vec<SkillEntry>, ClientError> {
        let limits = &client_limits(&self.client).lists;
        let (mut skills, mut bytes) = (Vec::new(), 0);
        let (mut params, mut cursors) = (json!({}), HashSet::new());
        loop {
            let request = self.client.extension_request(ID, "skills/list", &params);
            let text: Box<RawValue> = request.await?;
            bytes += text.get().len();
            let page: ListPage = read("skills/list", &text)?;
            skills.extend(page.skills);
            if skills.len() > limits.items || bytes > limits.bytes {
                return Err(protocol("the list of skills exceeds `ClientLimits::lists`"));
            }
            let Some(cursor) = page.next_cursor else {
                return Ok(skills);
            };
            params["cursor"] = Value::from(&*cursor);
            if !cursors.insert(cursor) || cursors.len() >= limits.pages {
                return Err(protocol("the pages of the list of skills do not end"));
            }
        }
    }

    /// Returns the entry of the skill whose `SKILL.md` is at `uri`, listed or not.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] if there is no such skill. [`ClientError::Unsupported`] if the server has no skills. Any other
    /// [`ClientError`].
    pub async fn get(&self, uri: &str) -> Result<SkillEntry, ClientError> {
        let params = json!({"uri": uri});
        let request = self.client.extension_request(ID, "skills/get", &params);
        let text: Box<RawValue> = request.await?;
        let result: GetResult = read("skills/get", &text)?;
        if result.skill.uri != uri {
            return Err(protocol("the server has returned another skill"));
        }
        Ok(result.skill)
    }

    /// Loads a skill: reads its `SKILL.md`, and verifies it against the entry. Other files are read by
    /// [`LoadedSkill::read`].
    ///
    /// # Errors
    ///
    /// [`SkillError`]. [`get`](Self::get) returns the entry as it is now: if it differs, the skill has changed and needs another
    /// approval of the user.
    pub async fn load(&self, entry: &SkillEntry) -> Result<LoadedSkill, SkillError> {
        LoadedSkill::load(self.client.clone(), entry.clone()).await
    }
}

/// Reads a result of the server.
fn read<T: for<'a> Deserialize<'a>>(method: &str, text: &RawValue) -> Result<T, ClientError> {
    serde_json::from_str(text.get())
        .map_err(|error| protocol(&format!("the result of `{method}` is invalid: {error}")))
}

fn protocol(message: &str) -> ClientError {
    ClientError::Protocol(message.into())
}
