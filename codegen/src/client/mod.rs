//! Typed clients from lock files.

mod budget;
mod docs;
mod error;
mod lock;
mod name;
mod plan;
mod render;
mod schema;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use proc_macro2::TokenStream;

use self::budget::Budget;
pub use self::error::Error;
use self::lock::Lock;
use self::plan::Plan;
use self::render::RenderError;

/// A typed client of one server, generated from its lock file, which `treenail lock` records.
///
/// In a build script:
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), treenail_codegen::Error> {
///     treenail_codegen::Client::new("weather.lock.json").generate() // writes $OUT_DIR/weather.rs
/// }
/// ```
///
/// and in the program, which depends only on `treenail`:
///
/// ```ignore
/// /// The weather service.
/// mod weather {
///     include!(concat!(env!("OUT_DIR"), "/weather.rs"));
/// }
///
/// let weather = weather::WeatherClient::new(&client);
/// let forecast = weather.forecast(weather::types::Forecast::new("Oslo").with_days(3)).await?;
/// ```
///
/// # Generated code
///
/// - A struct named after the server ([`name`](Self::name)), with one method for each tool, named after the tool in
///   `snake_case`. Arguments are passed as one struct, which is created as described below. A tool with an output
///   schema returns a `TypedCall` of the generated type, others a `TypedCall` of `CallToolResult`.
/// - `prompt_…` for each prompt, and `read_…` for each resource template, which takes the variables of the URI.
/// - `LOCK`, the text of the lock file, or of its part with the selected [`tools`](Self::tools). It lacks the undeclared
///   outputs of a trait, since a `CallToolResult` can have any. `Contract::from_json` parses it into a contract, which
///   `McpClient` compares the server with.
/// - A module `types`, with a struct for each object, and an enum for constants and for alternatives.
///
/// The function `new` of a struct takes the required members as parameters, in the alphabetical order of the lock file, if no
/// argument could be passed for another: each has its own type, at most one is a number, and none is any JSON beside others.
/// Otherwise the members are named, since a server that renames one would swap the arguments of a call that still compiles. A
/// struct without other members is then written as a literal, `MoveFile { source, destination }`. A struct with others takes
/// the required ones as one struct, `Search::new(SearchRequired { path, pattern })`. There is a `with_…` method for each
/// optional member.
///
/// The names of methods, members and constants depend only on the item, unless one would clash with another: then neither has the name.
/// `user_id` and `userId` are `user_underscore_id` and `user_id_camel`. A program that was written before the server added one of them
/// therefore does not compile, rather than send the other. The names of types for arguments and outputs follow those of the
/// methods; in a clash, the later one gets a number. The type of a part has a short name if several tools have the same part, so
/// a new tool can rename it. A large part is in a `Box`.
///
/// # Unsupported schemas
///
/// Types accept all values that a schema accepts, and sometimes more: patterns, formats and bounds appear in the
/// documentation, and the server checks them. Numbers are the exception: an `integer` is an `i64`, or a `u64` if it cannot
/// be negative. These accept no numbers beyond 64 bits. Results of calls can have whole numbers with a fraction or an exponent, such as
/// `3.0`, up to 2^53; a type that `serde_json` reads alone refuses them. A constant `1` differs from `1.0`. A schema without `type` has
/// the type that its keywords are for: `{"minimum": 0}` is a number, and `{"required": ["id"]}` an object.
///
/// Conditions between members (`if`, `dependentSchemas`) appear in the documentation too. Members that only conditions describe are any
/// JSON in `additional`, the field for members that the schema does not list.
///
/// An optional member that can also be `null` is one `Option`: `null` is read as a missing member, and is never sent. If `null`
/// differs from a missing argument, e.g. to clear a value, use [`keep_null`](Self::keep_null), or call `McpClient::call_tool` with
/// JSON: `weather.client().call_tool("set_alarm", json!({"at": null}))`.
///
/// A schema without a matching Rust type becomes any JSON, `types::Value`, with the reason in the documentation. Code is
/// generated for every schema.
///
/// # Limits
///
/// A server determines the content of a lock file, and a short schema can expand to a huge one. Limits therefore apply to
/// each schema, and to all schemas of a lock file together: 10,000 and 20,000 parts (types, fields, groups of constants), and
/// 50,000 and 200,000 steps to merge schemas (`allOf`, `$ref` with other keywords, alternatives). Schemas beyond the limits
/// become `types::Value`, with this reason. A type has at most 200 fields, 100 alternatives or 500 constants, and types are
/// nested at most 32 levels deep. A module of more than 8 MiB, including `LOCK`, is an [`Error::TooLarge`]: select
/// [`tools`](Self::tools) in this case. A lock file with duplicate names is rejected.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
    text: Option<String>,
    name: Option<String>,
    krate: String,
    tools: Option<Vec<String>>,
    keeps_null: bool,
}

impl Client {
    /// Creates a generator for the lock file at this path, in a build script relative to the directory of the `Cargo.toml`.
    pub fn new(lock_file: impl Into<PathBuf>) -> Self {
        Self {
            path: lock_file.into(),
            text: None,
            name: None,
            krate: "::treenail".to_owned(),
            tools: None,
            keeps_null: false,
        }
    }

    /// Creates a generator from the text of a lock file.
    ///
    /// ```
    /// let lock = r#"{"treenailLock": 1, "server": {"name": "adder"}, "tools": [{"name": "add", "inputSchema": {
    ///     "type": "object",
    ///     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    ///     "required": ["a", "b"]
    /// }}]}"#;
    /// let code = treenail_codegen::Client::from_json(lock).to_rust()?;
    /// assert!(code.contains("arguments: types::Add,"));
    /// assert!(code.contains("pub struct Add {"));
    /// # Ok::<(), treenail_codegen::Error>(())
    /// ```
    pub fn from_json(lock: impl Into<String>) -> Self {
        Self {
            text: Some(lock.into()),
            ..Self::new("lock.json")
        }
    }

    /// Sets the text of the lock file, for a program that has already read it. Default: the contents of the file, of any
    /// size.
    ///
    /// ```
    /// let lock = r#"{"treenailLock": 1, "server": {"name": "adder"}}"#;
    /// let file = treenail_codegen::Client::new("adder.lock.json").text(lock).to_file()?;
    /// assert!(file.starts_with("// @generated by `treenail generate` from adder.lock.json."));
    /// # Ok::<_, treenail_codegen::Error>(())
    /// ```
    #[must_use]
    pub fn text(mut self, lock: impl Into<String>) -> Self {
        self.text = Some(lock.into());
        self
    }

    /// Sets the name of the struct. Default: the name of the server, followed by `Client`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the path of Treenail, if it is renamed. Default: `::treenail`.
    #[must_use]
    pub fn krate(mut self, path: impl Into<String>) -> Self {
        self.krate = path.into();
        self
    }

    /// Selects tools by their names on the server. Default: all.
    ///
    /// `LOCK` then contains only these tools, without instructions and prompts, as after `Contract::only_tools`: other
    /// differences of a server are ignored. Methods for prompts and templates are still generated.
    #[must_use]
    pub fn tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Distinguishes `null` from absence in the arguments of tools: an optional member that can be `null` and has no default is an
    /// `Option<Option<T>>`. For servers where `null` clears a value, such as those with an `Option<Option<T>>` of Treenail.
    #[must_use]
    pub fn keep_null(mut self) -> Self {
        self.keeps_null = true;
        self
    }

    /// Generates the module as text. The output is deterministic.
    ///
    /// # Errors
    ///
    /// Fails if the lock file cannot be read or an option is invalid; see [`Error`].
    pub fn to_rust(&self) -> Result<String, Error> {
        let krate = self.path_of_crate()?;
        let mut lock = self.lock()?;
        if let Some(names) = &self.tools {
            let missing =
                |name| Error::InvalidOption(format!("the lock file has no tool `{name}`"));
            lock.keep(names).map_err(missing)?;
        }
        let name = match &self.name {
            Some(name) if name::is_type_name(name) => name.clone(),
            Some(name) => {
                return Err(Error::InvalidOption(format!(
                    "`{name}` is not a valid type name"
                )));
            }
            None => name::client(&lock.server),
        };
        let budget = Budget::default();
        let plan = Plan::of(&lock, &budget, self.keeps_null);
        render::module(&lock, &plan, &name, &krate).map_err(|failed| match failed {
            RenderError::InvalidRust(error) => Error::Rust(error),
            RenderError::TooLarge => Error::TooLarge {
                path: self.path.clone(),
                max_bytes: budget::MAX_OUTPUT,
            },
        })
    }

    /// Generates the module as a file to commit. Its first line names the lock file.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Self::to_rust), and if the file cannot be written.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let file = file.as_ref();
        let text = self.to_file()?;
        fs::write(file, text).map_err(Error::write(file))
    }

    /// Generates the text of a file to commit.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Self::to_rust).
    pub fn to_file(&self) -> Result<String, Error> {
        let lock = self.path.file_name().unwrap_or_default().to_string_lossy();
        let lock: String = lock.chars().filter(|c| !c.is_control()).collect();
        Ok(format!(
            "// @generated by `treenail generate` from {lock}. Do not edit.\n\n{}",
            self.to_rust()?
        ))
    }

    /// Generates the module in a build script: `$OUT_DIR/weather.rs` from `weather.lock.json`. Cargo reruns the script when the
    /// lock file changes.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Self::to_rust), and if the file cannot be written.
    pub fn generate(&self) -> Result<(), Error> {
        let out = env::var_os("OUT_DIR").ok_or(Error::OutDir)?;
        let file = Path::new(&out).join(self.file_name());
        let written = writeln!(
            io::stdout(),
            "cargo::rerun-if-changed={}",
            self.path.display()
        );
        written.map_err(Error::write(Path::new("standard output")))?;
        fs::write(&file, self.to_rust()?).map_err(Error::write(&file))
    }

    /// `weather.rs` for `weather.lock.json`.
    fn file_name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".json").unwrap_or(&name);
        format!("{}.rs", name.strip_suffix(".lock").unwrap_or(name))
    }

    fn lock(&self) -> Result<Lock, Error> {
        let text = match &self.text {
            Some(text) => text.clone(),
            None => fs::read_to_string(&self.path).map_err(Error::read(&self.path))?,
        };
        Lock::parse(&text).map_err(|reason| Error::Lock {
            path: self.path.clone(),
            reason,
        })
    }

    fn path_of_crate(&self) -> Result<TokenStream, Error> {
        let wrong = || Error::InvalidOption(format!("`{}` is not a valid crate path", self.krate));
        let path: syn::Path = syn::parse_str(&self.krate).map_err(|_| wrong())?;
        let has_arguments = path
            .segments
            .iter()
            .any(|segment| !segment.arguments.is_none());
        if has_arguments {
            Err(wrong())
        } else {
            Ok(quote::quote! { #path })
        }
    }
}
