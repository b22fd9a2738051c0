//! Tools that send one request to the client.

use treenail::form::FormField;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, CreateMessageResult, ElicitValue, LegacyTitledEnumSchema,
    PrimitiveSchemaDefinition, Role, SamplingMessage, SamplingMessageContentBlock,
};

pub(crate) struct ClientRequests;

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

/// Choice with titles in `enumNames`, as in legacy forms.
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

/// Creates a sampling request with one message of the user.
pub(crate) fn sampling_request(text: impl Into<String>) -> CreateMessageRequestParams {
    let text = SamplingMessageContentBlock::text(text);
    CreateMessageRequestParams::new(vec![SamplingMessage::new(Role::User, text)], 100)
}

/// Returns the text of the sampled message.
pub(crate) fn sampled_text(answer: &CreateMessageResult) -> &str {
    let mut blocks = answer.content.iter();
    blocks
        .find_map(SamplingMessageContentBlock::as_text)
        .unwrap_or_default()
}

#[mcp_tool]
#[allow(deprecated, reason = "sampling is deprecated, but tested")]
impl ClientRequests {
    /// Asks the client's model.
    #[tool]
    async fn test_sampling(cx: &Context, prompt: String) -> Result<String, AskError> {
        let answer = cx.sample(sampling_request(prompt)).await?;
        Ok(format!("LLM response: {}", sampled_text(&answer)))
    }

    /// Asks the client's model, which requires the capability.
    #[tool]
    async fn test_missing_capability(cx: &Context) -> Result<String, AskError> {
        let answer = cx.sample(sampling_request("Are you there?")).await?;
        Ok(sampled_text(&answer).to_owned())
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

    /// Asks the user to review a form with default values.
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

    /// Asks the user to choose, with all kinds of choices.
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
