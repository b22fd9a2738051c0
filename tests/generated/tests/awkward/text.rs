//! Text from servers stays text in generated code, and never becomes code.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit_mut::{VisitMut, visit_attribute_mut};
use syn::{Attribute, Ident, Item, Macro};

use crate::generated_code;

/// Names of all items in order, and all macros and attributes.
#[derive(Default)]
struct CodeItems {
    names: Vec<String>,
    macros: Vec<String>,
    attributes: Vec<String>,
}

impl VisitMut for CodeItems {
    fn visit_ident_mut(&mut self, _: &mut Ident) {}

    fn visit_item_mut(&mut self, item: &mut Item) {
        let name = match &*item {
            Item::Struct(item) => format!("struct {}", item.ident),
            Item::Enum(item) => format!("enum {}", item.ident),
            Item::Mod(item) => format!("mod {}", item.ident),
            Item::Impl(item) => format!("impl {}", without_arguments(&item.self_ty)),
            Item::Use(_) => "use".to_owned(),
            other => format!("{other:?}"),
        };
        self.names.push(name);
        syn::visit_mut::visit_item_mut(self, item);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        self.names.push(format!("fn {}", function.sig.ident));
        syn::visit_mut::visit_impl_item_fn_mut(self, function);
    }

    fn visit_macro_mut(&mut self, found: &mut Macro) {
        self.macros.push(path(&found.path));
        self.macros.extend(macro_calls(found.tokens.clone()));
    }

    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        self.attributes.push(path(attribute.path()));
        if let syn::Meta::List(list) = &attribute.meta {
            self.macros.extend(macro_calls(list.tokens.clone()));
        }
        visit_attribute_mut(self, attribute);
    }
}

fn path(path: &syn::Path) -> String {
    let names = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    names.collect::<Vec<_>>().join("::")
}

fn without_arguments(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(ty) => path(&ty.path),
        other => format!("{other:?}"),
    }
}

/// Returns the macro calls within tokens.
fn macro_calls(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut calls = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                calls.extend(macro_calls_in(group));
            }
            TokenTree::Punct(sign) if sign.as_char() == '!' => {
                let is_call = matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
                calls.extend(is_call.then(|| format!("within tokens, at {at}")));
            }
            _ => {}
        }
    }
    calls
}

fn macro_calls_in(group: &proc_macro2::Group) -> Vec<String> {
    assert_ne!(group.delimiter(), Delimiter::None);
    macro_calls(group.stream())
}

fn items_of(code: &str) -> CodeItems {
    let mut items = CodeItems::default();
    items.visit_file_mut(&mut syn::parse_file(code).unwrap());
    items
}

#[test]
fn text_from_servers_does_not_become_code() {
    let mut items = items_of(&generated_code("hostile"));
    let expected: Vec<_> = include_str!("hostile.txt").lines().collect();
    if std::env::var_os("UPDATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/awkward/hostile.txt");
        std::fs::write(file, items.names.join("\n") + "\n").unwrap();
        return;
    }
    assert_eq!(
        items.names, expected,
        "if the change is intended, run `UPDATE=1 cargo test -p generated --test awkward`"
    );
    items.macros.sort_unstable();
    items.macros.dedup();
    assert_eq!(
        items.macros,
        ["std::format_args"],
        "no other macro is called"
    );
    items.attributes.sort_unstable();
    items.attributes.dedup();
    let known = [
        "allow",
        "cfg_attr",
        "derive",
        "doc",
        "must_use",
        "non_exhaustive",
        "serde",
    ];
    assert_eq!(items.attributes, known);
}

#[test]
fn code_in_text_would_be_detected() {
    let found = items_of(
        "mod types { pub fn evil() {} #[path = \"x\"] mod inner { impl A { fn a() { panic!(\"{}\", f!()) } } } }",
    );
    assert_eq!(found.names.len(), 5, "{:?}", found.names);
    assert_eq!(found.macros, ["panic", "within tokens, at 3"]);
    assert_eq!(found.attributes, ["path"]);
}

#[test]
fn documentation_is_plain_text() {
    let text = generated_code("hostile");
    let is_comment = |line: &&str| line.trim_start().starts_with("///");
    let lines = text.lines().filter(is_comment);
    for line in lines.map(|line| line.trim_start().trim_start_matches("///")) {
        assert!(!line.starts_with("  "), "code: {line}");
        assert!(
            !line.contains("```") || line.contains("\\`"),
            "code: {line}"
        );
        assert!(
            !line.starts_with(" #") || line == " # Errors",
            "a heading: {line}"
        );
        assert!(line.len() < 4_000 * 4, "the line is not truncated");
    }
}
