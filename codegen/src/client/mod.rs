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
use self::render::Failed;

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
/// and in the program, which depends on `treenail` and nothing more:
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
/// # What is generated
///
/// - A struct with the name of the server ([`name`](Self::name)) and one method for each tool, named as the tool in
///   `snake_case`. What has arguments takes them as one struct, with the required ones in `new`, in the order of the lock
///   file, which is that of the alphabet, and a `with_…` for each of the others. A tool with an output schema gives a
///   `TypedCall` of its type, others one of `CallToolResult`.
/// - `prompt_…` for each prompt, and `read_…` for each resource template, which takes the variables of the URI.
/// - `LOCK`, the text of the lock file, or of its part with the [`tools`](Self::tools) that are wanted. Of it,
///   `Contract::from_json` makes what `McpClient` compares the server with.
/// - A module `types`, with a struct for each object, and an enum for constants and for alternatives.
///
/// The names depend on nothing but what they name, unless two would be the same: then the later one gets a number.
///
/// # What cannot be typed
///
/// Types take all that a schema takes, and sometimes more: patterns, formats and bounds are said in the documentation and
/// left to the server. Numbers are the exception: an `integer` is an `i64`, or a `u64` if it cannot be negative, which
/// takes neither what is beyond 64 bits nor a whole number that is written with a fraction or an exponent, such as `3.0`;
/// and a constant `1` is not `1.0`.
///
/// Where Rust has no type for a schema it is any JSON, `types::Value`, with the reason in the documentation. There is no
/// schema for which nothing is generated.
///
/// # Bounds
///
/// A lock file is what a server wrote, and a short schema can stand for a huge one. So there are bounds for each schema, and
/// for all schemas of a lock file together: 10,000 and 20,000 parts (what becomes a type, a field or a few constants), and
/// 50,000 and 200,000 steps of work to unite schemas (`allOf`, `$ref` with something beside it, alternatives). What is beyond
/// is `types::Value`, with this reason. A type has at most 200 fields, 100 alternatives or 500 constants, and types are nested
/// at most 32 levels deep. A module that would be larger than 8 MiB, `LOCK` included, is an [`Error::TooLarge`]: choose
/// [`tools`](Self::tools) then. A lock file that has something twice is refused.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
    text: Option<String>,
    name: Option<String>,
    krate: String,
    tools: Option<Vec<String>>,
}

impl Client {
    /// A client of the server whose lock file is at this path; in a build script it begins where the `Cargo.toml` is.
    pub fn new(lock_file: impl Into<PathBuf>) -> Self {
        Self {
            path: lock_file.into(),
            text: None,
            name: None,
            krate: "::treenail".to_owned(),
            tools: None,
        }
    }

    /// A client from the text of a lock file.
    ///
    /// ```
    /// let lock = r#"{"treenailLock": 1, "server": {"name": "adder"}, "tools": [{"name": "add", "inputSchema": {
    ///     "type": "object",
    ///     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    ///     "required": ["a", "b"]
    /// }}]}"#;
    /// let code = treenail_codegen::Client::from_json(lock).to_rust()?;
    /// assert!(code.contains("arguments: types::Add,"));
    /// assert!(code.contains("pub fn new(a: i64, b: i64) -> Self"));
    /// # Ok::<(), treenail_codegen::Error>(())
    /// ```
    pub fn from_json(lock: impl Into<String>) -> Self {
        Self {
            text: Some(lock.into()),
            ..Self::new("lock.json")
        }
    }

    /// The text of the lock file, for a program that has read it already. Default: what is at the path, without a bound on
    /// how much that is.
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

    /// How the struct is called. Default: what the server calls itself, with `Client` behind it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Where Treenail is, if it has another name. Default: `::treenail`.
    #[must_use]
    pub fn krate(mut self, path: impl Into<String>) -> Self {
        self.krate = path.into();
        self
    }

    /// Only these tools, by the names that the server gives them. Default: all.
    ///
    /// `LOCK` has them alone then, and neither instructions nor prompts, as after `Contract::only_tools`: a server is not
    /// refused for anything else. There are still methods for prompts and templates.
    #[must_use]
    pub fn tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Generates the module as text; the same lock file gives the same text.
    ///
    /// # Errors
    ///
    /// If the lock file cannot be read, or an option makes no sense; see [`Error`].
    pub fn to_rust(&self) -> Result<String, Error> {
        let krate = self.path_of_crate()?;
        let mut lock = self.lock()?;
        if let Some(names) = &self.tools {
            let missing = |name| Error::Option(format!("the lock file has no tool `{name}`"));
            lock.keep(names).map_err(missing)?;
        }
        let name = match &self.name {
            Some(name) if name::is_type_name(name) => name.clone(),
            Some(name) => return Err(Error::Option(format!("`{name}` is no name for a type"))),
            None => name::client(&lock.server),
        };
        let budget = Budget::default();
        let plan = Plan::of(&lock, &budget);
        render::module(&lock, &plan, &name, &krate).map_err(|failed| match failed {
            Failed::Rust(error) => Error::Rust(error),
            Failed::TooLong => Error::TooLarge {
                path: self.path.clone(),
                most: budget::OUTPUT,
            },
        })
    }

    /// Generates the module as a file that is checked in, with a first line that says where it comes from.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Self::to_rust), and if the file cannot be written.
    pub fn write(&self, file: impl AsRef<Path>) -> Result<(), Error> {
        let file = file.as_ref();
        let text = self.to_file()?;
        fs::write(file, text).map_err(Error::write(file))
    }

    /// The text of a file that is checked in.
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

    /// Generates the module in a build script: as `$OUT_DIR/weather.rs` from `weather.lock.json`. Cargo runs the script
    /// again when the lock file changes.
    ///
    /// # Errors
    ///
    /// As [`to_rust`](Self::to_rust), and if the file cannot be written.
    pub fn generate(&self) -> Result<(), Error> {
        let out = env::var_os("OUT_DIR").ok_or(Error::OutDir)?;
        let file = Path::new(&out).join(self.file_name());
        let told = writeln!(
            io::stdout(),
            "cargo::rerun-if-changed={}",
            self.path.display()
        );
        told.map_err(Error::write(Path::new("standard output")))?;
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
        let wrong = || Error::Option(format!("`{}` is no path of a crate", self.krate));
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
