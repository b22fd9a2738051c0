#![doc = include_str!("../README.md")]

/// Questions to the client.
pub use treenail_runtime::ask;
#[doc(hidden)]
pub use treenail_runtime::private as __private;
/// The types of the protocol, named as in its newest revision.
pub use treenail_runtime::schema;
#[doc(inline)]
pub use treenail_runtime::{
    AnnotationsValue, AskError, Bounded, BusFuture, Call, Connection, Context, ContractArgument,
    ContractItem, ContractOutput, DefaultArgument, Edit, Error, EventBus, EventLink, Extensions,
    Fallible, Form, FormChoice, FormError, FormField, FormProblem, Formatted, FromCall, FromText,
    FromTyped, IconValues, Item, Limits, Measured, MetaValue, Mirrored, Mount, Namespace,
    PendingAnswer, Principal, Progress, PromptDefinition, PromptOutput, Proposals, RangeOf,
    Received, RequestStateKey, ResourceDefinition, ResourceOutput, Result, RpcError, SchemaValue,
    Server, ServerBuilder, Stream, TextArgument, Tool, ToolArgument, ToolDefinition, ToolError,
    ToolItem, ToolOutput, ToolReply, ToolSet, ToolStream, Typed, WrapResults,
};
#[cfg(feature = "tower")]
#[doc(inline)]
pub use treenail_runtime::{BoxError, ToolCall, ToolFuture, ToolResponse, ToolService};

#[cfg(feature = "redis")]
#[doc(inline)]
pub use treenail_runtime::RedisBus;
#[cfg(feature = "http")]
#[doc(inline)]
pub use treenail_runtime::{
    HttpBody, HttpFuture, HttpServer, HttpService, LegacySse, http_service,
};

/// Turns a trait into a contract between a server and its clients, which the compiler checks on both sides.
///
/// For a trait `WeatherApi` the macro generates
///
/// | name | description |
/// |---|---|
/// | `WeatherApi` | the trait itself, which servers implement with `#[mcp_tool] impl WeatherApi for …` |
/// | `WeatherApiClient` | the client: a method for each tool, which returns a `TypedCall` or a `TypedStream` |
/// | `MockWeatherApi` | a server half for tests, with configurable answers |
/// | `WeatherApiClient::contract()` | the tools as data, a `client::Contract`, to compare a server with |
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_type]
/// #[derive(Debug, PartialEq)]
/// pub struct Forecast {
///     /// Degrees Celsius
///     temperature: f64,
/// }
///
/// /// Weather for travellers.
/// #[mcp_client(namespace = "weather")]
/// pub trait WeatherApi {
///     /// Daily forecast for one city.
///     #[tool(read_only)]
///     async fn forecast(
///         &self,
///         /// City name, e.g. "Oslo"
///         city: String,
///         #[arg(default = 1, range = 1..=7)] days: u8,
///     ) -> Result<Forecast, ToolError>;
/// }
///
/// struct Station;
///
/// #[mcp_tool]
/// impl WeatherApi for Station {
///     async fn forecast(&self, city: String, days: u8) -> Result<Forecast, ToolError> {
///         Ok(Forecast { temperature: 12.5 })
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> treenail::Result<()> {
///     let server = treenail::server!().mount(Station).build()?;
///     let client = McpClient::builder().server(&server).build().await?;
///     let weather = WeatherApiClient::new(&client);
///     let forecast = weather.forecast("Oslo".to_owned(), 3).await?;
///     assert_eq!(forecast, Forecast { temperature: 12.5 });
///     Ok(())
/// }
/// ```
///
/// # The trait
///
/// **Every method is a tool** named `namespace.method`. `#[tool(…)]` and `#[arg(…)]` set the same keys as with
/// [`macro@mcp_tool`]. A method takes `&self` and owned arguments, which need `Serialize`, `Deserialize` and `JsonSchema`
/// ([`macro@mcp_type`] derives them). It may take a `&Context`, which the client's method omits. It returns a `Result` or
/// an `impl Stream` of `Result`s, since a remote call can fail. The client gets the `Ok` type or a `ClientError`, which
/// contains the message of the tool's own error. A method may have a default body.
///
/// In the trait, `async fn f(…) -> R` becomes `fn f(…) -> impl Future<Output = R> + Send`, and streams are `Send`.
/// Implementations still write `async fn`. Every implementing type is `Send + Sync + 'static`.
///
/// Prompts and resources are not part of a contract. They belong in an `#[mcp_tool] impl` block of the same or another type.
/// A type has one `#[mcp_tool] impl` block and is mounted directly or as an `Arc`. A type that implements two contracts is
/// wrapped for the second, `struct Second(Arc<Station>);`, and both are mounted.
///
/// # Calls
///
/// A `TypedCall` borrows nothing. It accepts options such as a timeout or a progress handler, and can be spawned as a task.
/// Awaiting it sends the request, and dropping it cancels the call. A `TypedStream` sends the request when it is first
/// polled. Items arrive while the tool runs, and any missing ones with the result; each item is yielded once, in order.
///
/// # Namespaces
///
/// A method marked `#[namespace]` returns a part with its own contract: here, the tools `town.weather.…`. The part's
/// namespace is the name of the method, or `#[namespace(name = "…")]`; the one in the part's contract is ignored. In the
/// trait, the type of the part becomes an associated type named after the method, here `Weather`. `#[mcp_tool]` adds this
/// type to an implementation.
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_client]
/// trait WeatherApi {
///     async fn temperature(&self) -> Result<f64, ToolError>;
/// }
///
/// #[mcp_client(namespace = "town")]
/// trait TownApi {
///     #[namespace]
///     fn weather(&self) -> &impl WeatherApi;
/// }
///
/// struct Station;
///
/// #[mcp_tool]
/// impl WeatherApi for Station {
///     async fn temperature(&self) -> Result<f64, ToolError> {
///         Ok(12.5)
///     }
/// }
///
/// struct Town(Station);
///
/// #[mcp_tool]
/// impl TownApi for Town {
///     fn weather(&self) -> &Station {
///         &self.0
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail::Result<()> {
/// let server = treenail::server!().mount(Town(Station)).build()?;
/// let client = McpClient::builder().server(&server).build().await?;
/// let town = TownApiClient::new(&client);
/// assert_eq!(town.weather().temperature().await?, 12.5); // the tool `town.weather.temperature`
/// # let mock = MockTownApi::new().on_weather(MockWeatherApi::new().on_temperature(|| Ok(1.0)));
/// # assert_eq!(mock.client().await?.weather().temperature().await?, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// `WeatherApiClient::with_namespace` calls a server that has the tools in another namespace.
///
/// # The mock
///
/// `MockWeatherApi` answers each method with a function from the arguments to the output. For a stream the function returns
/// the items, and for a part the answer is the mock of its contract. `client()` connects a client through a real in-memory
/// server, so that arguments are checked and all data passes through JSON. A call without an answer fails and names the
/// missing `on_…` method. `calls()` returns the recorded calls.
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_client]
/// trait WeatherApi {
///     async fn temperature(&self, city: String) -> Result<f64, ToolError>;
///     fn cities(&self) -> impl Stream<Item = Result<String, ToolError>>;
/// }
///
/// async fn is_warm(weather: &WeatherApiClient) -> Result<bool, ClientError> {
///     Ok(weather.temperature("Oslo".to_owned()).await? > 20.0)
/// }
///
/// #[tokio::main(flavor = "current_thread")] // in a test of yours: `#[tokio::test]`
/// async fn main() -> treenail::Result<()> {
///     let mock = MockWeatherApi::new()
///         .on_temperature(|city| Ok(if city == "Oslo" { 12.5 } else { 25.0 }))
///         .on_cities(|| [Ok("Oslo".to_owned())]);
///     assert!(!is_warm(&mock.client().await?).await?);
///     assert_eq!(mock.calls()[0].arguments["city"], "Oslo");
///     Ok(())
/// }
/// ```
///
/// # Keys
///
/// `namespace = "…"` is the prefix of the names of all tools. `crate = path` is the path of this crate, if it is renamed.
/// Without the feature `client` only the server half is generated.
pub use treenail_macros::mcp_client;
/// Turns a struct into a form that a user can be asked to fill in, or an enum into a choice within a form.
///
/// On a **struct** with named fields it implements [`Form`]. Each field is described by its documentation comment. That of
/// the struct is not sent, because each request has its own message. On an **enum** without data it implements
/// [`FormChoice`], so that the enum can be the type of a field.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use treenail::prelude::*;
/// use treenail::Form;
///
/// #[mcp_form]
/// #[derive(Debug, PartialEq)]
/// struct Booking {
///     /// The first night
///     #[field(format = "date")]
///     day: String,
///     #[field(title = "Guests", range = 1..=12, default = 2)]
///     guests: u8,
///     /// Anything that we should know
///     #[field(length = 1..=200)]
///     note: Option<String>,
///     breakfast: bool,
///     #[field(default = Room::Double)]
///     room: Room,
///     #[field(length = ..=2)]
///     extras: Vec<Extra>,
/// }
///
/// #[mcp_form]
/// #[derive(Debug, PartialEq)]
/// enum Room {
///     Single,
///     #[field(name = "double", title = "Double room")]
///     Double,
/// }
///
/// #[mcp_form]
/// #[derive(Debug, PartialEq)]
/// enum Extra {
///     Sauna,
///     Parking,
///     Crib,
/// }
///
/// let entered = r#"{"day": "2026-07-28", "breakfast": true, "extras": ["Sauna"]}"#;
/// # use treenail::__private::serde_json;
/// let booking = Booking::read(serde_json::from_str(entered)?)?;
/// assert_eq!((booking.guests, booking.room), (2, Room::Double));
/// assert_eq!(booking.extras, [Extra::Sauna]);
///
/// let error = Booking::read(BTreeMap::from([
///     ("day".to_owned(), "tomorrow".into()),
///     ("guests".to_owned(), 40_i64.into()),
/// ]));
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "the form is not filled in as asked:\n\
///      - `day`: expected a date like 2026-07-28, got the string \"tomorrow\"\n\
///      - `guests`: expected an integer (1 to 12), got 40\n\
///      - `breakfast`: missing; expected true or false"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Fields
///
/// A field is a `String`, a number, a `bool`, an enum with `#[mcp_form]`, a `Vec` of such an enum (any number of choices), an
/// `Option` of one of them, or your own type that implements [`FormField`]. Forms are flat: a field cannot be a struct, a
/// map or any other list. `#[field(…)]` takes
///
/// | key | on | meaning |
/// |---|---|---|
/// | `name = "…"` | fields, variants | the name in the protocol; by default the Rust name, unchanged |
/// | `title = "…"` | fields, variants | the display name |
/// | `default`, `default = value` | fields | the initial value, and the value of an empty field |
/// | `range = 1..=12` | numbers | the minimum and the maximum |
/// | `length = 1..=200` | texts, `Vec`s | the number of characters, or of choices |
/// | `format = "…"` | texts | `email`, `uri`, `date` or `date-time`: see [`Formatted`] |
///
/// `#[serde(rename_all = "…")]` and the like have no effect on names, since forms do not use serde.
///
/// A field is required unless it is an `Option`, has a `default`, or is a `Vec` without a minimum `length`. The values are
/// validated when the form is read, and [`FormError`] reports all errors at once. Texts are not trimmed. A number with a
/// fraction of zero is an integer, but a text of digits is not a number. An empty text in an optional field counts as
/// absent if it is not a valid value of the field.
///
/// Forms are adapted for older clients. Those of 2025-06-18 support defaults for `bool`s only, so other defaults are added
/// to the description. They do not support lists of choices either: the user enters the choices as a text, separated by
/// commas, which the form parses.
///
/// # Security
///
/// The protocol requires that **a form must not ask for secrets**: no passwords, keys, tokens or card numbers. The values
/// pass through the client, where a model or a log may see them.
pub use treenail_macros::mcp_form;
/// Turns a function into a tool, or the methods of an `impl` block into tools, prompts and resources.
///
/// On a **function**, the macro leaves the function unchanged and generates an empty type of the same name, which
/// represents the tool in `tools![add]`.
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
/// let server = treenail::server!().tools(tools![add]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// On an **`impl` block**, the methods marked `#[tool]` become tools, those marked `#[prompt]` prompts and those marked
/// `#[resource("…")]` resources; other methods are not affected. The name of each is `namespace.method`. The documentation
/// of the block becomes part of the server's instructions. Servers mount a value of the type, or an `Arc` that the program
/// shares.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Counter(std::sync::atomic::AtomicU64);
///
/// /// Counts.
/// #[mcp_tool(namespace = "counter")]
/// impl Counter {
///     /// Counts up and tells how far.
///     #[tool]
///     fn up(&self) -> u64 {
///         1 + self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
///     }
/// }
///
/// let server = treenail::server!().mount(Counter(0.into())).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Names and hosts
///
/// Models of `OpenAI` and Anthropic accept only names of `a-z A-Z 0-9 _ -`, up to 64 characters. Most hosts replace dots
/// before they call the model. Requests of hosts that pass names on unchanged (openai-agents, `LangChain`, pydantic-ai) are
/// rejected. For such hosts set [`ServerBuilder::name_separator`] to `"_"` or `"__"`, or use no namespace. Calls from a host
/// that replaces a dot by `_` or `__` always work.
///
/// # Arguments
///
/// Each parameter is an argument, described by its documentation comment; its type needs `Deserialize` and
/// `JsonSchema` ([`ToolArgument`]), which [`macro@mcp_type`] derives. An `Option` is optional. A parameter
/// `cx: &Context` receives the [`Context`] of the call. `#[arg(…)]` takes
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model uses |
/// | `default`, `default = value` | the value if the argument is absent or `null` |
/// | `range = 1..=7` | bounds a number |
/// | `length = 1..=80` | bounds the number of characters of a text or of items of a list |
/// | `header = "Region"` | mirrors the value in the HTTP header `Mcp-Param-Region`: see [below](#headers) |
/// | `complete = path` | proposes values, for prompts and resources: see [below](#completion) |
///
/// Arguments are validated before the function runs. An invalid one causes a result with `isError`, which contains its JSON
/// Pointer, the expected value and the nearest known name.
///
/// # Conditions between arguments
///
/// The value of `schema` is an object of JSON Schema keywords that are added to the schema of the arguments, to describe
/// conditions between arguments to the model. They are not validated: the function has to check them.
///
/// ```
/// use serde_json::json;
/// use treenail::prelude::*;
///
/// /// Finds a customer.
/// #[mcp_tool(
///     read_only,
///     schema = json!({"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}),
/// )]
/// async fn find(phone: Option<String>, email: Option<String>) -> Result<String, ToolError> {
///     let given = phone.or(email);
///     given.ok_or_else(|| ToolError::new("give `phone` or `email`"))
/// }
///
/// let server = treenail::server!().tools(tools![find]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Headers
///
/// `#[arg(header = "Region")]` on a text, an integer or a `bool` ([`Mirrored`]) asks HTTP clients of the modern era to send
/// the value in the header `Mcp-Param-Region` too (`x-mcp-header`), where load balancers and gateways can read it without
/// parsing the body. The function gets the argument as usual. Integers are limited to ±(2^53 − 1).
///
/// Intermediaries and their logs see the values of headers: **use no secrets and no personal data**.
///
/// ```
/// use treenail::prelude::*;
///
/// /// Runs a query.
/// #[mcp_tool(read_only)]
/// async fn query(#[arg(header = "Region")] region: String, sql: String) -> String {
///     format!("{sql} in {region}")
/// }
///
/// let server = treenail::server!().tools(tools![query]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Output
///
/// Any type that implements `Serialize` and `JsonSchema`, text, content blocks, `()`, a stream, or a `Result` of those
/// with any error: see [`ToolOutput`]. Outputs other than objects are sent as `{"result": …}` to hosts that accept only
/// objects: see [`WrapResults`].
///
/// # Streams
///
/// A tool that returns a [`Stream`], or a `Result` of one, produces its output item by item. Crates such as
/// `tokio-stream`, `async-stream` and `futures` provide streams. A stream may borrow from `&self` and from `&Context`.
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_type]
/// struct Frame {
///     minute: u32,
/// }
///
/// struct Radar {
///     minutes: Vec<u32>,
/// }
///
/// #[mcp_tool(namespace = "weather")]
/// impl Radar {
///     /// Radar frames, oldest first.
///     #[tool(read_only)]
///     fn radar(&self, since: u32) -> impl Stream<Item = Result<Frame, std::io::Error>> {
///         let frames = self.minutes.iter().filter(move |minute| **minute >= since);
///         tokio_stream::iter(frames.map(|minute| Ok(Frame { minute: *minute })))
///     }
/// }
///
/// let server = treenail::server!().mount(Radar { minutes: vec![5, 10] }).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// The macro detects a stream by `impl Stream<…>` or `dyn Stream<…>` in the return type. For a type with another name,
/// add the key `stream`: `#[tool(stream)] fn radar(&self) -> BoxStream<'_, Frame>`.
///
/// Every client gets **one complete result**, which `fold` determines:
///
/// | `fold = …` | values | texts | content blocks | declared schema |
/// |---|---|---|---|---|
/// | `"collect"` | an array | an array | all blocks | `{"type": "array"}`, none for blocks |
/// | `"concat"` | one text, a line of JSON each | one text | all blocks, with consecutive texts joined | none |
/// | `"last"` | the last one | the last one | the last one | that of an item |
///
/// By default texts are concatenated, and other items are collected; [`ToolItem`] lists the types. An empty stream of values
/// has no last item, so `"last"` fails.
///
/// The first `Err` item ends the stream, as do a panic and the limits `stream_items` and `stream_bytes` of [`Limits`]. The
/// items so far remain in the result, also as structured content. A text with the reason follows them, and `isError` is
/// true.
///
/// A caller that sent a `progressToken` receives **a progress notification for each item**: the number of items, and the
/// text of text items, truncated after 4 KiB. If the function reports progress itself, both form one increasing sequence:
/// an item is always reported, with a number above the previous one. A caller whose `_meta` also has
/// `"dev.treenail/items": true` gets each item itself, as `"dev.treenail/item"` in the `_meta` of the notification. Back-pressure
/// applies: while the caller reads no messages, the stream is not polled. Cancelling the call drops the stream.
///
/// # Prompts
///
/// A method marked `#[prompt]` creates messages for a model, on request of a user. It returns text, messages or a
/// `Result` of those: see [`PromptOutput`]. Its arguments are sent as texts: see [`TextArgument`].
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
///     fn trip(
///         /// Where to
///         city: String,
///         #[arg(default = 3, range = 1..=14)] days: u8,
///     ) -> String {
///         format!("Plan a trip to {city}, {days} days long.")
///     }
/// }
///
/// let server = treenail::server!().mount(Travel).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Resources
///
/// A method marked `#[resource("…")]` returns the contents of the resource at that URI: text, bytes, a value that becomes
/// JSON, or an `Option` or `Result` of those. `None` means that the resource does not exist. See [`ResourceOutput`]. A URI
/// with variables is a template for many resources (RFC 6570), and each variable is an argument:
///
/// | variable | matches |
/// |---|---|
/// | `{name}` | one or more characters, except `/?#[]@!$&'()*+,;=:` unless percent-encoded |
/// | `{+name}` | one or more of any characters; must be the last variable |
/// | `{/name}`, `{.name}`, `{#name}` | `/{name}`, `.{name}` and `#{+name}` |
///
/// Variables are percent-decoded. **A value of `{name}` can therefore contain a `/`**, from a `%2F`. No value leads out of
/// a directory that it is joined to, in any encoding: a URI matches nothing if a value would contain a segment `..` or a
/// control character, or start with a slash, a backslash or a drive letter (`C:`). The exception is `file://{+path}`, where
/// a value starts with a slash: it is an absolute path, which the function has to check. The function itself has to check
/// whether the caller may access the resource. If several templates match a URI, the one that was mounted first is used.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Weather;
///
/// #[mcp_tool(namespace = "weather")]
/// impl Weather {
///     /// The stations that there are.
///     #[resource("weather://stations")]
///     fn stations(&self) -> Vec<String> {
///         vec!["blindern".to_owned()]
///     }
///
///     /// The newest picture of one station.
///     #[resource("weather://stations/{id}/picture", mime_type = "image/png")]
///     async fn picture(&self, id: String) -> std::io::Result<Option<Vec<u8>>> {
///         Ok((id == "blindern").then(Vec::new))
///     }
/// }
///
/// let server = treenail::server!().mount(Weather).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// Clients can subscribe to a resource marked `subscribable`. [`Server::resource_updated`] notifies the subscribers of a
/// change. Each resource of a template can be subscribed to by its URI.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Notes;
///
/// #[mcp_tool(namespace = "notes")]
/// impl Notes {
///     /// One note.
///     #[resource("notes://{id}", subscribable)]
///     async fn note(&self, id: u32) -> String {
///         format!("note {id}")
///     }
///
///     /// Writes a note anew.
///     #[tool]
///     async fn write(&self, cx: &Context, id: u32, text: String) {
/// #       drop(text);
///         cx.server().resource_updated(format!("notes://{id}"));
///     }
/// }
///
/// let server = treenail::server!().mount(Notes).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Completion
///
/// `#[arg(complete = path)]` on an argument of a prompt or on a variable of a URI completes the value while the user types.
/// The function takes a `&str`, the text so far, or a [`&Typed`](Typed), which also has the other arguments. A function
/// `Self::name` takes `&self` before that. It may be `async`, and returns texts, best first: see [`Proposals`].
///
/// ```
/// use treenail::prelude::*;
///
/// struct Travel {
///     cities: Vec<String>,
/// }
///
/// #[mcp_tool]
/// impl Travel {
///     #[prompt]
///     fn trip(#[arg(complete = Self::cities)] city: String) -> String {
///         format!("Plan a trip to {city}.")
///     }
///
///     async fn cities(&self, typed: &str) -> Vec<String> {
///         self.cities.iter().filter(|city| city.starts_with(typed)).cloned().collect()
///     }
/// }
///
/// # let cities = vec!["Oslo".to_owned()];
/// let server = treenail::server!().mount(Travel { cities }).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Policy
///
/// `timeout` limits the duration of a call, and `max_concurrency` the number of calls of the tool that run at once, for
/// the whole server. Further calls wait in order.
///
/// ```
/// use std::time::Duration;
///
/// use treenail::prelude::*;
///
/// /// Prints one page at a time.
/// #[mcp_tool(timeout = Duration::from_secs(30), max_concurrency = 1)]
/// async fn print(page: u32) -> String {
///     format!("printed {page}")
/// }
///
/// let server = treenail::server!().tools(tools![print]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// - **The timeout starts with the call and includes the time in the queue**: a call is answered within it.
///   The result has `isError`, and reports the limit and whether the function was started.
/// - The function's future is dropped at its next `await`. A `blocking` function runs on, because a thread cannot be stopped;
///   its output is dropped, and it holds its permit until it ends. [`Context::is_ended`] reports that the caller is gone.
/// - Without `timeout`, [`Limits::call_timeout`] applies, which has no default; `timeout = Duration::MAX` disables it.
/// - A queued call can be cancelled, and counts towards [`Limits::calls_in_flight`].
///
/// For policies of several tools, such as a rate limit or access control, use a layer: `ServerBuilder::layer`, with the
/// feature `tower`.
///
/// # Keys
///
/// | key | where | meaning |
/// |---|---|---|
/// | `name = "…"`, `title = "…"` | tool, prompt, resource | the programmatic name, and the display name |
/// | `icons = …`, `meta = …` | tool, prompt, resource | values for `icons` and `_meta` |
/// | `schema = …` | tool | keywords for the schema of all arguments, see [below](#conditions-between-arguments) |
/// | `blocking` | tool, prompt, resource | runs a blocking function on a thread of its own |
/// | `stream`, `fold = "…"` | tool | declares a stream, and its conversion to one result: see [above](#streams) |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | tool | hints for the host; `= false` negates one |
/// | `timeout = …`, `max_concurrency = …` | tool | the longest duration of a call, a `Duration`, and the number of calls that run at once |
/// | `mime_type = "…"` | resource | the media type; known for values that become JSON |
/// | `size = …`, `annotations = …` | resource | values for `size`, in bytes, and `annotations` |
/// | `subscribable` | resource | clients can subscribe to its changes; [`Server::resource_updated`] notifies them |
/// | `namespace = "…"` | `impl` | the prefix of all names in the block; [`ServerBuilder::namespace`] prepends another |
/// | `crate = path` | function, `impl` | the path of this crate, if it is renamed |
pub use treenail_macros::mcp_tool;
/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type, so that it can be an argument or output of a tool.
///
/// The derives are re-exported by this crate, so that yours need not depend on serde or schemars. Their attributes,
/// `#[serde(…)]` and `#[schemars(…)]`, can be used on the type and its members.
///
/// ```
/// use treenail::prelude::*;
///
/// /// What the weather will be.
/// #[mcp_type]
/// struct Forecast {
///     /// Degrees Celsius
///     temperature: f64,
///     #[serde(rename = "windSpeed")]
///     wind_speed: f64,
/// }
/// ```
pub use treenail_macros::mcp_type;
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
/// Attributes of methods in an `impl` block with [`macro@mcp_tool`], which documents them. They are compile errors
/// anywhere else.
pub use treenail_macros::{prompt, resource, tool};

/// Agents: the tool loop runs a language model with tools until the model has finished.
///
/// ```
/// use serde_json::json;
/// use treenail::prelude::*;
/// use treenail::agent::{RunEvent, ScriptedModel, ScriptedReply};
///
/// /// Daily forecast for one city.
/// #[mcp_tool(read_only)]
/// async fn forecast(city: String) -> String {
///     format!("Rain in {city}")
/// }
///
/// /// Forgets a saved place.
/// #[mcp_tool(destructive)]
/// async fn forget(place: String) -> String {
///     format!("{place} is forgotten")
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> treenail::Result<()> {
///     // In place of a language model: scripted replies.
///     let model = ScriptedModel::new([
///         ScriptedReply::call("forecast", json!({"city": "Oslo"})),
///         ScriptedReply::text("Forget Oslo, then.").and_call("forget", json!({"place": "Oslo"})),
///         ScriptedReply::text("It stays, although it rains."),
///     ]);
///     let agent = ToolLoop::new(model)
///         .source("weather", tools![forecast, forget]) // or `&client`, an `McpClient`
///         .system_prompt("You know all about places.");
///     let mut run = agent.run("Which places should I keep?");
///     while let Some(event) = run.next().await {
///         match event {
///             RunEvent::Text(text) => println!("{text}"),
///             RunEvent::CallStarted { id, .. } => println!("… {id}"),
///             RunEvent::ApprovalRequested(asked) => {
///                 assert_eq!(asked.tool.name, "forget"); // the forecast only reads
///                 run.deny(&asked.call.id, "I live there");
///             }
///             _ => {}
///         }
///     }
///     let report = run.await?;
///     assert_eq!(report.text(), "It stays, although it rains.");
///     assert_eq!(report.calls.len(), 2);
///     Ok(())
/// }
/// ```
///
/// In a client, [`enable_tool_use_for_sampling`](agent::ClientBuilderExt::enable_tool_use_for_sampling) of the builder
/// responds to the sampling of its server; in a server, [`cx.model()`](agent::ContextExt::model) is the model of the client,
/// for tools that are agents themselves.
#[cfg(feature = "tool-loop")]
#[doc(inline)]
pub use treenail_agent as agent;
#[cfg(feature = "tool-loop")]
#[doc(inline)]
pub use treenail_agent::{Model, ToolLoop};
/// Adapter for the crate `jsoncall`: clients over its sessions, and servers as its handlers.
#[cfg(feature = "jsoncall")]
#[doc(inline)]
pub use treenail_jsoncall as jsoncall;
/// The client, for programs that use servers and for the tests of servers.
///
/// ```
/// use serde_json::json;
/// use treenail::prelude::*;
///
/// #[mcp_tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[tokio::main(flavor = "current_thread")] // in a test of yours: `#[tokio::test]`
/// async fn main() -> treenail::Result<()> {
///     let server = treenail::server!().tools(tools![add]).build()?;
///     let client = McpClient::builder().server(&server).build().await?;
///     let sum: i64 = client.call_tool_as("add", json!({"a": 1, "b": 2})).await?;
///     assert_eq!(sum, 3);
///     Ok(())
/// }
/// ```
///
/// It answers the questions of tools, in every revision:
///
/// ```
/// use serde_json::json;
/// use treenail::prelude::*;
/// use treenail::schema::{ElicitAction, ElicitResult, Revision};
///
/// #[mcp_tool(destructive)]
/// async fn forget(cx: &Context, place: String) -> Result<String, AskError> {
///     cx.confirm(format!("Delete {place}?")).await?;
///     Ok(format!("{place} is gone"))
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> treenail::Result<()> {
///     let server = treenail::server!().tools(tools![forget]).build()?;
///     for revision in [Revision::V2025_11_25, Revision::LATEST] {
///         let client = McpClient::builder()
///             .server(&server)
///             .protocol_version(revision)
///             .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
///             .build()
///             .await?;
///         let result = client.call_tool("forget", json!({"place": "Oslo"})).await?;
///         assert_eq!(result.is_error, Some(true));
///     }
///     Ok(())
/// }
/// ```
#[cfg(feature = "client")]
pub use treenail_runtime::client;
#[cfg(feature = "client")]
#[doc(inline)]
pub use treenail_runtime::client::{ClientError, McpClient, McpClientSession};

/// The most common items: `use treenail::prelude::*;`.
pub mod prelude {
    pub use crate::{
        AskError, Context, Server, Stream, ToolError, mcp_client, mcp_form, mcp_tool, mcp_type,
        prompt, resource, tool, tools,
    };
    #[cfg(feature = "client")]
    pub use crate::{ClientError, McpClient, McpClientSession};
    #[cfg(feature = "tool-loop")]
    pub use crate::{
        ToolLoop,
        agent::{ClientBuilderExt as _, ContextExt as _},
    };
}

/// Creates a server builder with the name and version of the calling crate.
///
/// ```
/// let server = treenail::server!().build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[macro_export]
macro_rules! server {
    () => {
        $crate::Server::builder(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::env!("CARGO_PKG_VERSION"),
        )
    };
}
