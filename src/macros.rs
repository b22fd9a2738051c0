//! The macros, with their documentation.

/// Turns a trait into a contract between a server and its clients. The compiler checks both sides.
///
/// For a trait `WeatherApi`, the macro generates
///
/// | name | description |
/// |---|---|
/// | `WeatherApi` | the trait itself, which servers implement with `#[mcp_tool] impl WeatherApi for …` |
/// | `WeatherApiClient` | the client: a method for each tool, which returns a `TypedCall` or a `TypedStream` |
/// | `MockWeatherApi` | a server half for tests, with configurable answers |
/// | `WeatherApiClient::contract()` | the tools as data, to compare a server with |
///
/// ```
/// use treenail::prelude::*;
///
/// /// Weather for travellers.
/// #[mcp_client(namespace = "weather")]
/// pub trait WeatherApi {
///     /// Degrees Celsius now.
///     #[tool(read_only)]
///     async fn temperature(&self, city: String) -> Result<f64, ToolError>;
///
///     /// All cities.
///     fn cities(&self) -> impl Stream<Item = Result<String, ToolError>>;
/// }
///
/// async fn agent(client: &McpClient) -> Result<f64, ClientError> {
///     WeatherApiClient::new(client).temperature("Oslo".to_owned()).await
/// }
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `namespace = "…"` | the prefix of the names of all tools |
/// | `crate = path` | the path of this crate, if it is renamed |
///
/// Methods take `&self`, owned arguments and possibly a `&Context`. They return a `Result`, or an `impl Stream` of `Result`s.
/// `#[tool(…)]` and `#[arg(…)]` take the keys of [`macro@mcp_tool`]. A method marked `#[namespace]` returns a part with its
/// own contract. Without the feature `client`, only the server half is generated.
#[cfg_attr(
    feature = "client",
    doc = "\nGuide: [contracts](crate::guide::contracts), [testing](crate::guide::testing)."
)]
pub use treenail_macros::mcp_client;
/// Turns a struct into a form that a user can be asked to fill in, or an enum into a choice within a form.
///
/// A struct with named fields implements [`Form`](crate::form::Form). Each field is described by its doc comment. An enum without data
/// implements [`FormChoice`](crate::form::FormChoice), so that it can be the type of a field.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use treenail::prelude::*;
/// use treenail::form::Form;
///
/// #[mcp_form]
/// #[derive(Debug)]
/// struct Booking {
///     /// The first night
///     #[field(format = "date")]
///     day: String,
///     #[field(title = "Guests", range = 1..=12, default = 2)]
///     guests: u8,
///     breakfast: bool,
/// }
///
/// let error = Booking::read(BTreeMap::from([
///     ("day".to_owned(), "tomorrow".into()),
///     ("guests".to_owned(), 40_i64.into()),
/// ]));
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "the form content is invalid:\n\
///      - `day`: expected a date like 2026-07-28, got the string \"tomorrow\"\n\
///      - `guests`: expected an integer (1 to 12), got 40\n\
///      - `breakfast`: missing; expected true or false"
/// );
/// ```
///
/// | key of `#[field(…)]` | on | meaning |
/// |---|---|---|
/// | `name = "…"` | fields, variants | the name in the protocol; by default the Rust name, unchanged |
/// | `title = "…"` | fields, variants | the display name |
/// | `default`, `default = value` | fields | the initial value, and the value of an empty field |
/// | `range = 1..=12` | numbers | the minimum and the maximum |
/// | `length = 1..=200` | texts, `Vec`s | the number of characters, or of choices |
/// | `format = "…"` | texts | `email`, `uri`, `date` or `date-time`: see [`StringFormat`](crate::form::StringFormat) |
///
/// A field is a `String`, a number, a `bool`, an enum with `#[mcp_form]`, a `Vec` of such an enum, an `Option` of one of
/// them, or your own type that implements [`FormField`](crate::form::FormField). A form must not ask for secrets.
///
/// Guide: [elicitation](crate::guide::elicitation).
pub use treenail_macros::mcp_form;
/// Turns a function into a tool, or the methods of an `impl` block into tools, prompts and resources.
///
/// On a function, the macro leaves the function unchanged and generates an empty type of the same name, which represents
/// the tool in `tools![add]`. In an `impl` block, it reads the methods marked `#[tool]`, `#[prompt]` and `#[resource("…")]`.
///
/// ```
/// use treenail::prelude::*;
///
/// /// Adds two integers.
/// #[mcp_tool(read_only)]
/// async fn add(
///     /// The first one
///     a: i64,
///     #[arg(default = 1, range = 0..=100)] b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// struct Weather;
///
/// /// Weather for travellers.
/// #[mcp_tool(namespace = "weather")]
/// impl Weather {
///     /// Degrees Celsius now.
///     #[tool(read_only)]
///     async fn temperature(&self, city: String) -> Result<f64, std::io::Error> {
///         Ok(if city == "Oslo" { 12.5 } else { 20.0 })
///     }
/// }
///
/// let server = treenail::server!().tools(tools![add]).mount(Weather).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// | key of `#[mcp_tool]` | where | meaning |
/// |---|---|---|
/// | those of [`macro@tool`] | function | the keys of its tool |
/// | `namespace = "…"` | `impl` | the prefix of all names in the block; [`ServerBuilder::namespace`](crate::ServerBuilder::namespace) prepends another |
/// | `scope = "…"` | `impl` | the [scopes](macro@tool) of everything in the block that declares none |
/// | `crate = path` | function, `impl` | the path of this crate, if it is renamed |
///
/// | key of `#[arg(…)]` | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model uses |
/// | `default`, `default = value` | the value if the argument is absent, or `null` unless the type accepts that |
/// | `range = 1..=7` | bounds a float, or an integer of at most 64 bits |
/// | `length = 1..=80` | bounds the number of characters of a `String` or of items of a `Vec` |
/// | `header = "Region"` | repeats the value in the HTTP header `Mcp-Param-Region`: see [`HeaderArgument`](crate::args::HeaderArgument) |
/// | `complete = path` | completes the value, for prompts and resources: see [`IntoCompletions`](crate::completion::IntoCompletions); an enum completes itself |
///
/// The type of an argument implements [`ToolArgument`](crate::args::ToolArgument), or [`TextArgument`](crate::args::TextArgument) for prompts and resources. Output types
/// implement [`ToolOutput`](crate::tool::ToolOutput), [`PromptOutput`](crate::prompt::PromptOutput) or [`ResourceOutput`](crate::resource::ResourceOutput); [`macro@mcp_type`] derives the requirements of all.
///
/// Guide: [tools](crate::guide::tools), [prompts](crate::guide::prompts), [resources](crate::guide::resources),
/// [streams](crate::guide::streams), [errors](crate::guide::errors).
pub use treenail_macros::mcp_tool;
/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type, so that it can be an argument or output of a tool.
///
/// The derives are re-exported by this crate, so that yours need not depend on serde or schemars. Their attributes,
/// `#[serde(…)]` and `#[schemars(…)]`, can be used on the type and its members.
///
/// A field of the type `Option<Option<T>>` is `None` if it is missing, and `Some(None)` for `null`, without attributes of serde.
///
/// A type that tools only return needs no `Deserialize`, and one that they only receive needs no `Serialize`. The keys leave the
/// derive out, and a good part of the time to compile the type with it. A type of a [client trait](macro@mcp_client) needs both.
///
/// | key | derives |
/// |---|---|
/// | none | `Serialize`, `Deserialize`, `JsonSchema` |
/// | `output` | `Serialize`, `JsonSchema` |
/// | `input` | `Deserialize`, `JsonSchema` |
/// | `crate = path` | the path of this crate, if it is renamed |
///
/// ```
/// use treenail::prelude::*;
///
/// /// Forecast of the weather.
/// #[mcp_type]
/// struct Forecast {
///     /// Degrees Celsius
///     temperature: f64,
///     #[serde(rename = "windSpeed")]
///     wind_speed: f64,
/// }
///
/// /// Sum of the rain of each day.
/// #[mcp_type(output)]
/// struct Rain {
///     millimetres: f64,
/// }
/// ```
pub use treenail_macros::mcp_type;
/// Marks a method of an [`macro@mcp_tool`] `impl` block as a prompt. A compile error anywhere else.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Travel;
///
/// #[mcp_tool(namespace = "travel")]
/// impl Travel {
///     /// Plan a trip.
///     #[prompt(title = "Plan a trip")]
///     fn trip(city: String, #[arg(default = 3, range = 1..=14)] days: u8) -> String {
///         format!("Plan a trip to {city}, {days} days long.")
///     }
/// }
/// # let _ = treenail::server!().mount(Travel).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"`, `title = "…"` | the programmatic name, and the display name |
/// | `scope = "files:read"`, `scope = value` | the scopes that a call needs on a server with authorization: see [`IntoScopes`](crate::args::IntoScopes) |
/// | `icons = …`, `meta = …` | a list of `Icon`s, and an object for `_meta`, such as `json!({…})` |
/// | `blocking` | runs a blocking function on its own thread |
///
/// Arguments are sent as texts: see [`TextArgument`](crate::args::TextArgument). Output: see [`PromptOutput`](crate::prompt::PromptOutput).
///
/// Guide: [prompts](crate::guide::prompts).
pub use treenail_macros::prompt;
/// Marks a method of an [`macro@mcp_tool`] `impl` block as a resource, or as a template for resources. A compile error
/// anywhere else.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Weather;
///
/// #[mcp_tool(namespace = "weather")]
/// impl Weather {
///     /// The newest picture of one station.
///     #[resource("weather://stations/{id}/picture", mime_type = "image/png")]
///     async fn picture(&self, id: String) -> std::io::Result<Option<Vec<u8>>> {
///         Ok((id == "blindern").then(Vec::new))
///     }
/// }
/// # let _ = treenail::server!().mount(Weather).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `"…"` | the URI; variables such as `{id}` are arguments |
/// | `name = "…"`, `title = "…"` | the programmatic name, and the display name |
/// | `scope = "files:read"`, `scope = value` | the scopes that a call needs on a server with authorization: see [`IntoScopes`](crate::args::IntoScopes) |
/// | `mime_type = "…"` | the media type; known for values that become JSON |
/// | `size = …`, `annotations = …` | values for `size`, in bytes, and `annotations` |
/// | `icons = …`, `meta = …` | a list of `Icon`s, and an object for `_meta`, such as `json!({…})` |
/// | `subscribable` | clients can subscribe to its changes; [`Server::resource_updated`](crate::Server::resource_updated) notifies them |
/// | `blocking` | runs a blocking function on its own thread |
///
/// Variables are texts: see [`TextArgument`](crate::args::TextArgument). Output: see [`ResourceOutput`](crate::resource::ResourceOutput).
///
/// Guide: [resources](crate::guide::resources).
pub use treenail_macros::resource;
/// Marks a method of an [`macro@mcp_tool`] `impl` block as a tool. A compile error anywhere else.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"`, `title = "…"` | the programmatic name, and the display name |
/// | `scope = "files:read"`, `scope = value` | the scopes that a call needs on a server with authorization: see [`IntoScopes`](crate::args::IntoScopes) |
/// | `icons = …`, `meta = …` | a list of `Icon`s, and an object for `_meta`, such as `json!({…})` |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints for the host; `= false` negates one |
/// | `timeout = …` | maximum duration of a call, a `Duration`, including its time in the queue |
/// | `max_concurrency = …` | maximum number of calls of this tool that run at once |
/// | `task`, `task(…)` | lets a call become a task, see below; needs the feature `tasks` |
/// | `schema = …` | additional keywords for the schema of the arguments, which are not validated |
/// | `blocking` | runs a blocking function on its own thread |
/// | `stream`, `fold = "…"` | declares a stream, and its conversion to one result: `"collect"`, `"concat"` or `"last"` |
///
/// | key of `task(…)` | meaning |
/// |---|---|
/// | `after = "500ms"` | a call that has not finished after this time becomes a task; other calls return their result |
/// | `always` | a call does not wait before it becomes a task |
/// | `required` | clients without tasks get an error; those of revisions before 2025-11-25 get a plain call |
/// | `external` | another program ends the task, with its token |
/// | `resume` | after a crash, the function may run again, although the tool is neither `read_only` nor `idempotent` |
/// | `keep = "1d"` | time for which the result is readable after the end |
/// | `run_time = "2h"` | maximum run time |
///
/// Units of time are `ms`, `s`, `m`, `h` and `d`. A client without tasks gets the result of a plain call, or an
/// error with `required` or `external`.
///
/// Guide: [tools](crate::guide::tools), [streams](crate::guide::streams).
pub use treenail_macros::tool;
/// Creates a set of tools from functions with [`macro@mcp_tool`]. Duplicate names are a compile error.
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_tool]
/// fn hello() -> &'static str {
///     "Hello"
/// }
///
/// let tools = tools![hello];
/// # let _ = tools;
/// ```
pub use treenail_macros::tools;
