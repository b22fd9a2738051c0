//! Names of types, members and methods from the names of servers.

use std::collections::BTreeMap;

use super::words::MAX_LENGTH;
use super::*;

fn snake(name: &str) -> String {
    snake_forms(name).swap_remove(0)
}

#[test]
fn names_are_readable() {
    for (name, snake_case, pascal_case) in [
        ("get-sum", "get_sum", "GetSum"),
        (
            "admin.users.listAll",
            "admin_users_list_all",
            "AdminUsersListAll",
        ),
        ("HTTPRequest", "http_request", "HttpRequest"),
        ("userID", "user_id", "UserId"),
        ("iPhone15Pro", "i_phone15_pro", "IPhone15Pro"),
        ("GET SUM", "get_sum", "GetSum"),
        ("__meta__", "meta", "Meta"),
        ("größe", "groesse", "Groesse"),
        ("ÑANDÚ", "nandu", "Nandu"),
        ("日本", "u65e5u672c", "U65e5u672c"),
        ("x²", "xub2", "Xub2"),
        ("2fa", "n2fa", "N2fa"),
        ("", "empty", "Empty"),
        ("<=", "less_equal", "LessEqual"),
        ("-", "minus", "Minus"),
        ("🦀", "u1f980", "U1f980"),
        ("self", "self", "Self"),
    ] {
        assert_eq!(snake(name), snake_case, "{name}");
        assert_eq!(pascal(name), pascal_case, "{name}");
    }
    assert_eq!(snake(&"a".repeat(200)).len(), MAX_LENGTH);
}

#[test]
fn keywords_are_legal() {
    for (name, legal) in [
        ("type", "r#type"),
        ("gen", "r#gen"),
        ("self", "self_"),
        ("crate", "crate_"),
        ("union", "union"),
    ] {
        assert_eq!(ident(name).to_string(), legal);
    }
    for name in KEYWORDS.iter().chain(&INVALID_NAMES) {
        let ident = ident(name).to_string();
        assert!(syn::parse_str::<Ident>(&ident).is_ok(), "{ident}");
    }
}

#[test]
fn no_two_names_are_the_same() {
    let members = ["a_b", "a-b", "a b", "aB", "A_B", "a_b_2", "c"].map(snake_forms);
    assert_eq!(
        unique(&members, &["c"]),
        [
            "a_underscore_b_lower",
            "a_minus_b",
            "a_space_b",
            "a_b_camel",
            "a_underscore_b_upper",
            "a_b_2",
            "c_lower"
        ]
    );
    let constants = ["asc", "-asc", "+asc", "ASC", "Self", "self"].map(variant_forms);
    assert_eq!(
        unique(&constants, &[]),
        [
            "AscLower",
            "MinusAsc",
            "PlusAsc",
            "AscUpper",
            "SelfPascal",
            "SelfLower"
        ]
    );
    // The letters differ only in their script or accents.
    let similar = ["oe", "ö", "Oe", "Ö"].map(snake_forms);
    assert_eq!(
        unique(&similar, &[]),
        ["oe_x6c344121", "oe_x079dc48c", "oe_pascal", "oe_upper"]
    );
    let same = vec![variant_forms("a"); 3];
    assert_eq!(
        unique(&same, &[]),
        ["AXe40c292c2", "AXe40c292c3", "AXe40c292c4"]
    );
}

#[test]
fn a_name_never_changes_its_meaning() {
    let names = [
        "user_id",
        "userId",
        "user-id",
        "user_underscore_id",
        "UserId",
        "USER_ID",
        "user_id_camel",
        "user_underscore_id_lower",
        "user id",
    ];
    let meanings = |of: &[&str]| {
        let forms: Vec<_> = of.iter().map(|name| snake_forms(name)).collect();
        let pairs = unique(&forms, &["user_minus_id"]).into_iter().zip(of);
        pairs
            .map(|(name, of)| (name, (*of).to_owned()))
            .collect::<BTreeMap<_, _>>()
    };
    for set in 0_u32..1 << names.len() {
        let is_in = |at: &usize| set >> at & 1 == 1;
        let some: Vec<_> = (0..names.len()).filter(is_in).map(|at| names[at]).collect();
        let before = meanings(&some);
        assert_eq!(before.len(), some.len());
        for added in (0..names.len()).filter(|at| !is_in(at)) {
            let after = meanings(&[&[names[added]], &*some].concat());
            for (name, meaning) in &before {
                let now = after.get(name);
                assert!(now.is_none_or(|now| now == meaning), "{name} of {some:?}");
            }
        }
    }
}

#[test]
fn names_that_clash_are_counted_once() {
    let mut names = Names::default();
    let taken = (0..50_000).map(|_| names.take(&["a".to_owned()], ""));
    assert_eq!(taken.last().as_deref(), Some("a50000"));
}

#[test]
fn one_of_many_has_a_singular() {
    for (many, one) in [
        ("entities", "Entity"),
        ("users", "User"),
        ("addresses", "Address"),
        ("boxes", "Box"),
        ("status", "StatusItem"),
        ("news", "NewsItem"),
        ("data", "DataItem"),
    ] {
        assert_eq!(singular(many, "Item"), one);
    }
}

#[test]
fn clients_are_named_after_their_servers() {
    for (server, name) in [
        ("mcp-servers/everything", "EverythingClient"),
        ("secure-filesystem-server", "SecureFilesystemClient"),
        ("mcp-server", "McpServerClient"),
        ("", "EmptyClient"),
        ("2nd", "N2ndClient"),
    ] {
        assert_eq!(client(server), name);
        assert!(is_type_name(name));
    }
    assert!(!is_type_name("a-b") && !is_type_name("Self") && !is_type_name(""));
}
