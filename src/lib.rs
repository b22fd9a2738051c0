#![doc = include_str!("../README.md")]

/// Questions to the client.
pub use treenail_runtime::ask;
#[doc(hidden)]
pub use treenail_runtime::private as __private;
/// The types of the protocol, in the vocabulary of its newest revision.
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

/// Makes a trait the contract of a server half and a client half: one definition, which the compiler checks on both sides.
///
/// Of a trait `WeatherApi` it makes
///
/// | name | what it is |
/// |---|---|
/// | `WeatherApi` | the trait itself, which servers implement with `#[mcp_tool] impl WeatherApi for …` |
/// | `WeatherApiClient` | the client: a method for each tool, which returns a `TypedCall` or a `TypedStream` |
/// | `MockWeatherApi` | a server half for tests, which answers with what it is given |
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
/// **Every method is a tool**, called `namespace.method`; `#[tool(…)]` gives it keys, and `#[arg(…)]` its arguments, as with
/// [`macro@mcp_tool`]. It takes `&self` and owned arguments, which need `Serialize`, `Deserialize` and `JsonSchema`
/// ([`macro@mcp_type`] derives them). A `&Context` is the server's; the client does without. It returns a `Result` or an
/// `impl Stream` of `Result`s, since a call can fail on its way: the client gets the `Ok` type with a
/// `ClientError`, which has the words of the tool's own error. A method may have a body.
///
/// In the trait, `async fn f(…) -> R` becomes `fn f(…) -> impl Future<Output = R> + Send`, and streams are `Send`;
/// those who implement it write `async fn` all the same. All of them are `Send + Sync + 'static`.
///
/// Prompts and resources are not part of a contract; they go in an `#[mcp_tool] impl` block of the same or of another type.
/// A type is mounted by one `#[mcp_tool] impl` block, itself or as an `Arc` of it. One that fulfils two contracts is wrapped
/// for the second, `struct Second(Arc<Station>);`, and both are mounted.
///
/// # Calls
///
/// A `TypedCall` borrows nothing. It can be given a timeout, a function that hears of progress and more, or a task of its
/// own; awaiting it sends it, and dropping it cancels the call. A `TypedStream` is sent when it is first polled. Its items
/// come while the tool runs, and what has not come by the end comes with the result, each item once and in order.
///
/// # Namespaces
///
/// A method marked `#[namespace]` returns a part with a contract of its own: here, the tools `town.weather.…`. The part's
/// own namespace does not count; `#[namespace(name = "…")]` gives another one than the method's name. In the trait, the type
/// of the part becomes an associated type with the name of the method, here `Weather`; `#[mcp_tool]` adds that to an
/// implementation.
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
/// A server that has the tools in another namespace is called with `WeatherApiClient::with_namespace`.
///
/// # The mock
///
/// `MockWeatherApi` answers each method with a function, from the arguments to what the method returns; a stream is answered
/// with its items, and a part with the mock of its own contract. `client()` connects a client with it over a real server in
/// memory, so arguments are checked and all goes through JSON. A call without an answer fails and says which `on_…` is
/// missing; `calls()` are those that it has got.
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
/// `namespace = "…"` is what the names of all tools begin with, `crate = path` where this crate is if it has another name.
/// Without the feature `client` there is the server half alone.
pub use treenail_macros::mcp_client;
/// Makes a struct a form that a user can be asked to fill in, or an enum a choice in one.
///
/// On a **struct** with named fields it implements [`Form`]. Each field is described by its documentation comment; that of
/// the struct is not sent, because what is asked for is said by the message of each call. On an **enum** without data it
/// implements [`FormChoice`], so that the enum can be the type of a field.
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
/// `Option` of one of them, or a type of your own that implements [`FormField`]. Forms are flat: a field is no struct, no map
/// and no list of other things. `#[field(…)]` takes
///
/// | key | on | meaning |
/// |---|---|---|
/// | `name = "…"` | fields, variants | the name in the protocol; without it, the Rust name as it is written |
/// | `title = "…"` | fields, variants | the name that people see |
/// | `default`, `default = value` | fields | what the field starts with, and its value if it is left empty |
/// | `range = 1..=12` | numbers | the smallest and the largest |
/// | `length = 1..=200` | texts, `Vec`s | how many characters, or choices |
/// | `format = "…"` | texts | `email`, `uri`, `date` or `date-time`: see [`Formatted`] |
///
/// Names are not changed by `#[serde(rename_all = "…")]` and the like: forms do without serde.
///
/// A field has to be filled in unless it is an `Option`, has a `default`, or is a `Vec` without a smallest `length`. What was
/// entered is checked again when it is read, and [`FormError`] tells all that is wrong at once. Texts are taken as they are,
/// with the spaces around them. A number with a fraction of zero is an integer; a text with digits in it is no number. An
/// empty text in a field that may be left empty, and that an empty text is no value of, is taken for nothing.
///
/// Older clients are shown what they know. Those of 2025-06-18 know defaults for `bool`s only, so others stand in the
/// description, and they know no lists of choices: they show a text, in which the user lists the choices with commas between
/// them, and that is what the form reads.
///
/// # Security
///
/// **A form must not ask for secrets**, says the protocol: no passwords, keys, tokens or card numbers. What is entered passes
/// through the client, where a model or a log may see it.
pub use treenail_macros::mcp_form;
/// Makes a function a tool, or the methods of an `impl` block a set of tools, prompts and resources.
///
/// On a **function**, the function stays as it is, and an empty type of the same name stands for the tool: `tools![add]`
/// takes it.
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
/// On an **`impl` block**, the methods that are marked `#[tool]` become tools, those marked `#[prompt]` prompts and those
/// marked `#[resource("…")]` resources; the others are left alone. The name of each is `namespace.method`. The
/// documentation of the block becomes part of the server's instructions. A value of the type is mounted, or an `Arc` of one
/// that the program needs as well.
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
/// Models of OpenAI and Anthropic take names of `a-z A-Z 0-9 _ -` alone, up to 64 characters. Most hosts change dots on the way
/// to the model; those that hand names on as they are (openai-agents, LangChain, pydantic-ai) have their requests refused. For
/// such hosts set [`ServerBuilder::name_separator`] to `"_"` or `"__"`, or do without a namespace. A host that writes `_` or
/// `__` for a dot itself is understood in any case.
///
/// # Arguments
///
/// Each parameter is an argument, described by its documentation comment; its type needs `Deserialize` and
/// `JsonSchema` ([`ToolArgument`]), which [`macro@mcp_type`] derives. An `Option` may be left out. A parameter
/// `cx: &Context` is taken from the call ([`Context`]). `#[arg(…)]` takes
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model uses |
/// | `default`, `default = value` | the argument may be left out or `null` |
/// | `range = 1..=7` | bounds a number |
/// | `length = 1..=80` | bounds the characters of a text or the items of a list |
/// | `header = "Region"` | over HTTP, the value is in the header `Mcp-Param-Region` too: see [below](#headers) |
/// | `complete = path` | proposes values, for prompts and resources: see [below](#completion) |
///
/// Arguments are checked before the function runs. A wrong one gives a result with `isError` that names its JSON
/// Pointer, what was expected and the nearest known name.
///
/// # Conditions between arguments
///
/// The value of `schema` is an object of JSON Schema keywords that are added to the schema of the arguments, to tell the
/// model what no single argument says. They are told and not checked: the function sees to what they say.
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
/// the value in the header `Mcp-Param-Region` too (`x-mcp-header`), where load balancers and gateways can see it without
/// reading the body. The function gets the argument as any other. Integers are then within ±(2^53 − 1).
///
/// What is in a header is seen by all in between, and by their logs: **no secrets, nothing personal**.
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
/// Any type that implements `Serialize` and `JsonSchema`, text, content blocks, nothing, a stream, or a `Result` of those
/// with any error: see [`ToolOutput`]. What is no object goes as `{"result": …}` to hosts that take objects only:
/// [`WrapResults`].
///
/// # Streams
///
/// A tool that returns a [`Stream`], or a `Result` of one, may produce its output item by item. Crates such as
/// `tokio-stream`, `async-stream` and `futures` make streams. It may borrow from `&self` and from `&Context`.
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
/// The macro sees a stream by the `impl Stream<…>` or `dyn Stream<…>` in the return type; where the type has another name,
/// the key `stream` says that it is one: `#[tool(stream)] fn radar(&self) -> BoxStream<'_, Frame>`.
///
/// Every client gets **one complete result**, which `fold` chooses:
///
/// | `fold = …` | values | texts | content blocks | declared schema |
/// |---|---|---|---|---|
/// | `"collect"` | an array | an array | all blocks | `{"type": "array"}`, none for blocks |
/// | `"concat"` | one text, a line of JSON each | one text | all blocks, with texts that follow each other as one | none |
/// | `"last"` | the last one | the last one | the last one | that of an item |
///
/// Texts are concatenated unless it says otherwise, all else is collected; which type is which is the documentation of
/// [`ToolItem`]. A stream of values without an item has no last one: that is a failure.
///
/// The first item that is an `Err` ends the stream, as do a panic and the bounds `stream_items` and `stream_bytes` of
/// [`Limits`]. What was produced stays in the result, also as structured content; a text that says what happened
/// comes after it, and `isError` is true.
///
/// A caller that sent a `progressToken` is told of **progress with each item**: how many there were, and the text of
/// items that are texts, cut off after 4 KiB. If the function tells of progress itself, there is one sequence, which grows:
/// an item is always told, with a number beyond the last one. A caller whose `_meta` also has `"dev.treenail/items": true`
/// gets each item itself, as `"dev.treenail/item"` in the `_meta` of its progress. Telling waits while the caller takes no
/// messages, and the stream waits with it. Cancelling the call drops the stream.
///
/// # Prompts
///
/// A method marked `#[prompt]` writes messages for a model, which a person asks for. It returns text, messages or a
/// `Result` of those: see [`PromptOutput`]. Its arguments come as texts: see [`TextArgument`].
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
/// A method marked `#[resource("…")]` is what is read at that URI: text, bytes, a value that becomes JSON, or an `Option`
/// or `Result` of those, where `None` says that there is no such resource; see [`ResourceOutput`]. A URI with variables is
/// a template for many resources (RFC 6570), and each variable is an argument:
///
/// | variable | matches |
/// |---|---|
/// | `{name}` | one or more characters, but none of `/?#[]@!$&'()*+,;=:` unless they are percent-encoded |
/// | `{+name}` | those too; it has to be the last variable |
/// | `{/name}`, `{.name}`, `{#name}` | `/{name}`, `.{name}` and `#{+name}` |
///
/// Variables are percent-decoded. **A value of `{name}` may therefore have a `/` in it**, from a `%2F`. No value has a
/// segment `..`, in whatever encoding: such a URI matches nothing. Whether a value leads to something that the caller may
/// see is for the function to tell. Of two templates that match a URI, the one that was mounted first is read.
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
/// A resource marked `subscribe` is one whose changes are told to clients that have subscribed to it:
/// [`Server::resource_updated`] tells them. Of a template, each resource can be subscribed to by its URI.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Notes;
///
/// #[mcp_tool(namespace = "notes")]
/// impl Notes {
///     /// One note.
///     #[resource("notes://{id}", subscribe)]
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
/// `#[arg(complete = path)]` on an argument of a prompt or on a variable of a URI proposes values while it is typed. The
/// path is that of a function of `&str`, what has been typed, or of [`&Typed`](Typed), which knows the other arguments
/// too; one that is called `Self::name` takes `&self` before that. It may be `async`, and returns texts, the best first:
/// see [`Proposals`].
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
/// `timeout` says how long a call of a tool may take, `concurrency` how many calls of it run at once, for the whole
/// server; further calls wait for their turn, in order.
///
/// ```
/// use std::time::Duration;
///
/// use treenail::prelude::*;
///
/// /// Prints one page at a time.
/// #[mcp_tool(timeout = Duration::from_secs(30), concurrency = 1)]
/// async fn print(page: u32) -> String {
///     format!("printed {page}")
/// }
///
/// let server = treenail::server!().tools(tools![print]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// - **The timeout counts from the beginning of the call, its waiting for a turn included**: a call is answered by then.
///   The result has `isError` and names the limit, and says whether the function was started.
/// - The function's future is dropped at its next `await`. A `blocking` function runs on, because a thread cannot be stopped;
///   its output is dropped, and it keeps its turn until it ends. [`Context::is_ended`] tells it that nobody waits.
/// - Without `timeout`, [`Limits::call_timeout`] counts, which is not set unless you set it; `timeout = Duration::MAX` is none.
/// - A call that waits can be cancelled, and is one of [`Limits::calls_in_flight`].
///
/// What more than one tool needs, such as a rate limit or access control, is for a layer: `ServerBuilder::layer`, with the
/// feature `tower`.
///
/// # Keys
///
/// | key | where | meaning |
/// |---|---|---|
/// | `name = "…"`, `title = "…"` | tool, prompt, resource | the name for programs, and the one that people see |
/// | `icons = …`, `meta = …` | tool, prompt, resource | values for `icons` and `_meta` |
/// | `schema = …` | tool | keywords for the schema of all arguments, see [below](#conditions-between-arguments) |
/// | `blocking` | tool, prompt, resource | a function that blocks runs on a thread of its own |
/// | `stream`, `fold = "…"` | tool | the function returns a stream; how it becomes one result: see [above](#streams) |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | tool | hints for the host; `= false` denies one |
/// | `timeout = …`, `concurrency = …` | tool | how long a call may take, a `Duration`, and how many run at once |
/// | `mime_type = "…"` | resource | the media type; of values that become JSON it is known |
/// | `size = …`, `annotations = …` | resource | values for `size`, in bytes, and `annotations` |
/// | `subscribe` | resource | clients may ask to be told of changes, with [`Server::resource_updated`] |
/// | `namespace = "…"` | `impl` | what all names in it begin with; [`ServerBuilder::namespace`] puts more before it |
/// | `crate = path` | function, `impl` | where this crate is, if it has another name |
pub use treenail_macros::mcp_tool;
/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type, so that it can be an argument or output of a tool.
///
/// The derives come through this crate, so yours need not depend on serde or schemars. The attributes of both,
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
/// Lists functions that [`macro@mcp_tool`] has made tools. Two of one name do not build.
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
/// The marks of methods in an `impl` block that has [`macro@mcp_tool`], which reads them; see there. Anywhere else they are
/// errors that say so.
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
/// In a client, [`McpClientBuilder::enable_tool_use_for_sampling`](client::McpClientBuilder::enable_tool_use_for_sampling)
/// responds to the sampling of its server; in a server, [`Context::model`] is the model of the client, for tools that are
/// agents themselves.
#[cfg(feature = "tool-loop")]
pub use treenail_runtime::agent;
#[cfg(feature = "tool-loop")]
#[doc(inline)]
pub use treenail_runtime::agent::{Model, ToolLoop};
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
/// It answers what a tool asks, in every revision:
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
/// Adapter for the crate `jsoncall`: clients over its sessions, and servers as its handlers.
#[cfg(feature = "jsoncall")]
pub use treenail_runtime::jsoncall;

/// What most programs name: `use treenail::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "tool-loop")]
    pub use crate::ToolLoop;
    pub use crate::{
        AskError, Context, Server, Stream, ToolError, mcp_client, mcp_form, mcp_tool, mcp_type,
        prompt, resource, tool, tools,
    };
    #[cfg(feature = "client")]
    pub use crate::{ClientError, McpClient, McpClientSession};
}

/// Starts the description of a server that has the name and version of the crate in which this stands.
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
