//! Tools with types of their own, in a crate that depends on nothing but `treenail`.

#![deny(warnings)]

use treenail::{Server, mcp_tool, mcp_type, tools};

/// A place on a map.
#[mcp_type]
#[derive(Clone, Debug)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Its name
    #[schemars(length(min = 1))]
    full_name: String,
    kind: Kind,
}

/// Kind of a place.
#[mcp_type]
#[derive(Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
enum Kind {
    City,
    Lake,
}

/// List of `T`.
#[mcp_type]
struct Listed<T> {
    items: Vec<T>,
}

/// Renames a place.
#[mcp_tool]
fn rename(mut place: Place, name: String) -> Place {
    place.full_name = name;
    place
}

struct Map {
    places: Vec<Place>,
}

/// Places of a map.
#[mcp_tool(namespace = "map")]
impl Map {
    /// All places of a kind.
    #[tool(read_only)]
    fn places(&self, kind: Option<Kind>) -> Listed<Place> {
        let of_kind = |place: &&Place| kind.is_none_or(|kind| kind as u8 == place.kind as u8);
        let items = self.places.iter().filter(of_kind).cloned().collect();
        Listed { items }
    }
}

fn main() {
    let places = vec![Place {
        full_name: "Oslo".to_owned(),
        kind: Kind::City,
    }];
    let server = Server::builder("one-dependency", "0.0.0")
        .mount(Map { places })
        .tools(tools![rename])
        .build();
    assert!(server.is_ok(), "{:?}", server.err());
    let _ = Kind::Lake;
}
