//! `impl` blocks: kinds of methods, generics, `cfg`, outputs that borrow.

#![deny(warnings)]

use std::fmt::{Display, Error};

use treenail::server::Mount;
use treenail::{Context, mcp_tool};

const NIGHTS: u8 = 3;

/// Weather for travellers.
pub struct Weather<P, const N: usize> {
    name: String,
    places: [P; N],
}

/// Ask for a forecast first.
#[mcp_tool(namespace = "weather")]
impl<P, const N: usize> Weather<P, N>
where
    P: Display + Send + Sync + 'static,
{
    /// The most days of a forecast.
    pub const DAYS: u8 = 7;

    /// Daily forecast.
    #[tool(read_only)]
    async fn forecast(
        &self,
        cx: &Context,
        /// City
        city: String,
        #[arg(default = Self::DAYS, range = 1..=Self::DAYS)] days: u8,
        #[arg(default = self::NIGHTS)] nights: u8,
    ) -> Result<Vec<String>, Error> {
        let _ = cx.request_id();
        Ok(vec![city; usize::from(days.min(nights))])
    }

    /// The name of the service.
    #[tool]
    fn name(&self) -> &str {
        &self.name
    }

    #[tool]
    async fn names(&self) -> &[String] {
        std::slice::from_ref(&self.name)
    }

    #[tool(name = "all.places", blocking)]
    fn places(&self) -> Vec<String> {
        self.places.iter().map(P::to_string).collect()
    }

    #[tool]
    fn version() -> &'static str {
        "1"
    }

    #[tool(name = "home")]
    #[cfg(test)]
    fn home_here(&self) -> bool {
        true
    }

    #[tool(name = "home")]
    #[cfg(any())]
    fn home_there(&self) -> bool {
        false
    }

    /// No tool.
    pub fn new(name: String, places: [P; N]) -> Self {
        Self { name, places }
    }
}

pub(crate) fn main() {
    let weather = Weather::new(String::new(), [1, 2]);
    fn count<M: Mount>(_: &M) -> usize {
        M::tools().len()
    }
    assert_eq!(count(&weather), 6);
}
