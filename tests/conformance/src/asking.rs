//! Tools that ask the client one thing.

use treenail::FormField;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, CreateMessageResult, ElicitValue, LegacyTitledEnumSchema,
    PrimitiveSchemaDefinition, Role, SamplingMessage, SamplingMessageContentBlock,
};

pub(crate) struct Asking;

#[mcp_form]
struct Account {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

#[mcp_form]
struct Defaults {
    /// User name
    #[field(default = "John Doe")]
    name: String,
    /// User age
    #[field(default = 30)]
    age: u8,
    /// User score
    #[field(default = 95.5)]
    score: f64,
    /// User status
    #[field(default = Status::Active)]
    status: Status,
    /// Verification status
    #[field(default = true)]
    verified: bool,
}

#[mcp_form]
#[derive(Debug)]
enum Status {
    #[field(name = "active")]
    Active,
    #[field(name = "inactive")]
    Inactive,
    #[field(name = "pending")]
    Pending,
}

#[mcp_form]
struct Choices {
    #[field(name = "untitledSingle")]
    untitled_single: Option<Untitled>,
    #[field(name = "titledSingle")]
    titled_single: Option<Titled>,
    #[field(name = "legacyEnum")]
    legacy_enum: Option<Legacy>,
    #[field(name = "untitledMulti")]
    untitled_multi: Vec<Untitled>,
    #[field(name = "titledMulti")]
    titled_multi: Vec<Titled>,
}

#[mcp_form]
#[derive(Debug)]
enum Untitled {
    #[field(name = "option1")]
    One,
    #[field(name = "option2")]
    Two,
    #[field(name = "option3")]
    Three,
}

#[mcp_form]
#[derive(Debug)]
enum Titled {
    #[field(name = "value1", title = "First Option")]
    One,
    #[field(name = "value2", title = "Second Option")]
    Two,
    #[field(name = "value3", title = "Third Option")]
    Three,
}

/// A choice whose titles are in `enumNames`, which newer forms have no use for.
struct Legacy(String);

impl FormField for Legacy {
    fn schema() -> PrimitiveSchemaDefinition {
        let titles = ["Option One", "Option Two", "Option Three"].map(str::to_owned);
        LegacyTitledEnumSchema::new(["opt1", "opt2", "opt3"].map(str::to_owned))
            .with_enum_names(titles)
            .into()
    }

    fn read(value: ElicitValue) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        String::read(value).map(Self)
    }
}

/// One message of the user, for the client's model.
pub(crate) fn prompt(text: impl Into<String>) -> CreateMessageRequestParams {
    let text = SamplingMessageContentBlock::text(text);
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, text)], 100)
}

/// What the client's model said.
pub(crate) fn said(answer: &CreateMessageResult) -> &str {
    let mut blocks = answer.content.iter();
    blocks
        .find_map(SamplingMessageContentBlock::as_text)
        .unwrap_or_default()
}

#[mcp_tool]
#[allow(
    deprecated,
    reason = "sampling is deprecated, and it is what is tested"
)]
impl Asking {
    /// Asks the client's model.
    #[tool]
    async fn test_sampling(cx: &Context, prompt: String) -> Result<String, AskError> {
        let answer = cx.sample(self::prompt(prompt)).await?;
        Ok(format!("LLM response: {}", said(&answer)))
    }

    /// Asks the client's model, so it is for clients that have one.
    #[tool]
    async fn test_missing_capability(cx: &Context) -> Result<String, AskError> {
        let answer = cx.sample(prompt("Are you there?")).await?;
        Ok(said(&answer).to_owned())
    }

    /// Asks the user for a name and an address.
    #[tool]
    async fn test_elicitation(cx: &Context, message: String) -> Result<String, AskError> {
        let Account { username, email } = cx.elicit(message).await?;
        Ok(format!("User response: {username}, {email}"))
    }

    /// Asks the user, on a stream.
    #[tool]
    async fn test_streaming_elicitation(cx: &Context) -> Result<String, AskError> {
        let Account { username, .. } = cx.elicit("Who are you?").await?;
        Ok(format!("User response: {username}"))
    }

    /// Asks the user to look over what is filled in already.
    #[tool]
    async fn test_elicitation_sep1034_defaults(cx: &Context) -> Result<String, AskError> {
        let form: Defaults = cx.elicit("Please review and update the form").await?;
        let Defaults {
            name,
            age,
            score,
            status,
            verified,
        } = form;
        Ok(format!(
            "{name}, {age}: {score}, {status:?}, verified: {verified}"
        ))
    }

    /// Asks the user to choose, in each way that there is.
    #[tool]
    async fn test_elicitation_sep1330_enums(cx: &Context) -> Result<String, AskError> {
        let chosen: Choices = cx.elicit("Please select options").await?;
        let (untitled, titled) = (chosen.untitled_single, chosen.titled_single);
        let legacy = chosen.legacy_enum.map(|Legacy(name)| name);
        let (many, more) = (chosen.untitled_multi, chosen.titled_multi);
        Ok(format!(
            "{untitled:?}, {titled:?}, {legacy:?}, {many:?}, {more:?}"
        ))
    }
}
