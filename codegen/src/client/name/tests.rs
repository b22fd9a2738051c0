//! Names of types, members and methods from the names of servers.

use super::words::MAX_LENGTH;
use super::*;

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
    let mut names = Names::default();
    let taken = ["a_b", "a-b", "a b", "aB", "a_b_2"].map(|name| names.snake(name));
    assert_eq!(
        taken,
        [
            "a_b",
            "a_minus_b",
            "a_space_b",
            "a_b_2",
            "a_underscore_b_underscore_2"
        ]
    );
    let mut names = Names::default();
    let taken = ["asc", "-asc", "+asc", "Asc", "Self", "self"].map(|name| names.variant(name));
    assert_eq!(
        taken,
        ["Asc", "MinusAsc", "PlusAsc", "Asc2", "ItSelf", "ItSelf2"]
    );
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
