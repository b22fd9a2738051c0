//! Id of a message that could not be read in whole, from its first and last bytes.

use crate::wire::message::is_request_id;
use crate::wire::{DEEPEST, Scanner};

/// Text of the id of a message that could not be read in whole. At most one of the two is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdAtEnds<'a> {
    /// The id of a request, to answer with.
    pub id: Option<&'a str>,
    /// The id of our request, if the message is a response.
    pub answered: Option<&'a str>,
    /// True for a request or a notification. False for a response, and if the kind of the message is not known.
    pub is_request: bool,
}

/// Searches the first and last bytes of a message for its id, which precedes or follows the parameters or the result.
pub fn id_at_ends<'a>(head: &'a [u8], tail: &'a [u8]) -> IdAtEnds<'a> {
    find(head, tail).unwrap_or_default()
}

fn find<'a>(head: &'a [u8], tail: &'a [u8]) -> Option<IdAtEnds<'a>> {
    let mut head = head.utf8_chunks().map(|chunk| chunk.valid());
    let mut scanner = Scanner::new(head.find(|text| !text.is_empty())?, DEEPEST);
    scanner.open_object().ok()?;
    // The first of the members that only one of the two has decides.
    let (mut id, mut is_request, mut is_first) = (None, None, true);
    while let Ok(Some(key)) = scanner.next_member(is_first) {
        is_first = false;
        is_request = is_request.or(match &*key {
            "method" | "params" => Some(true),
            "result" | "error" => Some(false),
            _ => None,
        });
        // A number at the end of the bytes may be cut off.
        let (Ok(value), Some(_)) = (scanner.value(), scanner.peek()) else {
            break;
        };
        if key == "id" && id.replace(value).is_some() {
            return None;
        }
    }
    let id = id.or_else(|| id_at_end(tail));
    let id = id.filter(|id| is_request_id(id));
    let is_request = is_request == Some(true);
    let (id, answered) = if is_request { (id, None) } else { (None, id) };
    Some(IdAtEnds {
        id,
        answered,
        is_request,
    })
}

/// Returns the id in the last members of a message.
fn id_at_end(tail: &[u8]) -> Option<&str> {
    let last = tail.utf8_chunks().last()?;
    let text = Some(last.valid()).filter(|_| last.invalid().is_empty())?;
    // A quote in a string has a backslash, so this is a key. Its object ends with the message, so it is the outermost one.
    let members = &text[text.rfind("\"id\":")?..];
    let mut scanner = Scanner::new(members, DEEPEST - 1);
    scanner.next_member(true).ok()??;
    let id = scanner.value().ok()?;
    while scanner.next_member(false).ok()?.is_some() {
        scanner.value().ok()?;
    }
    scanner.end().ok()?;
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEITHER: IdAtEnds<'_> = IdAtEnds {
        id: None,
        answered: None,
        is_request: false,
    };

    const NOTIFICATION: IdAtEnds<'_> = IdAtEnds {
        is_request: true,
        ..NEITHER
    };

    const fn request(id: &str) -> IdAtEnds<'_> {
        IdAtEnds {
            id: Some(id),
            answered: None,
            is_request: true,
        }
    }

    const fn response(id: &str) -> IdAtEnds<'_> {
        IdAtEnds {
            id: None,
            answered: Some(id),
            is_request: false,
        }
    }

    fn check(cases: &[(&str, &str, IdAtEnds<'_>)]) {
        for (head, tail, expected) in cases {
            let found = id_at_ends(head.as_bytes(), tail.as_bytes());
            assert_eq!(found, *expected, "{head} … {tail}");
        }
    }

    #[test]
    fn the_id_of_a_long_request_is_found_at_its_ends() {
        check(&[
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"a":"x"#,
                r#"x"}}"#,
                request("7"),
            ),
            (
                r#"{"id": "s,7", "method":"a","params":{"id":8,"a":"x"#,
                r#"xx","id":9}}"#,
                request(r#""s,7""#),
            ),
            (
                r#"{"method":"a","params":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                request("9"),
            ),
            (
                r#"{"method":"a","_meta":{"id":8},"params":{"a":"x"#,
                r#"é"},"id":"é","jsonrpc":"2.0"} "#,
                request(r#""é""#),
            ),
            (
                r#"{"params":{"a":"x"#,
                r#"xx"},"method":"a","id":9}"#,
                request("9"),
            ),
            (
                r#"{"id":7,"method":"roots/list","params":{"result":"#,
                "xx\"}}",
                request("7"),
            ),
            (
                r#"{"id":7,"method":"a","result":{"a":"x","#,
                "x\"}}",
                request("7"),
            ),
        ]);
        // A character is cut off at both ends.
        let (head, tail) = (
            b"{\"id\":7,\"method\":\"a\",\"b\":\"\xc3",
            b"\xa9\"},\"id\":8}",
        );
        assert_eq!(id_at_ends(head, tail), request("7"));
        let head = b"{\"method\":\"a\",\"b\":\"\xc3";
        assert_eq!(id_at_ends(head, tail), request("8"));
    }

    #[test]
    fn the_id_of_a_long_response_is_found_at_its_ends() {
        check(&[
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"a":"x"#,
                "xxx",
                response("7"),
            ),
            (
                r#"{"id": 7,"result":{"id":8"#,
                r#"xx","id":9}"#,
                response("7"),
            ),
            (
                r#"{"id":7,"result":{"method":"a","a":"x"#,
                "x\"}}",
                response("7"),
            ),
            (
                r#"{"result":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                response("9"),
            ),
            (
                r#"{"result":{"a":"x"#,
                r#"xx"},"id":9,"jsonrpc":"2.0"}"#,
                response("9"),
            ),
            (
                r#"{"jsonrpc":"2.0","id":"s","error":{"a":"x"#,
                "xxx",
                response(r#""s""#),
            ),
            (r#"{"jsonrpc":"2.0","id":7,"x":"#, "xxx", response("7")),
        ]);
    }

    #[test]
    fn an_id_that_is_not_that_of_the_message_is_not_found() {
        let requests = [
            // The end of the number is not known.
            (r#"{"jsonrpc":"2.0","method":"a","id":12"#, "xx\"}}"),
            (r#"{"method":"a","params":{"id":8,"a":"x"#, r#"x","id":9}}"#),
            (r#"{"method":"a","params":{"a":"x"#, r#"x \"id\":9}"}}"#),
            (r#"{"id":null,"method":"a","params":{"a":"#, "1}}"),
            (r#"{"params":{"id":8,"method":"a","a":"x"#, ""),
        ];
        check(&requests.map(|(head, tail)| (head, tail, NOTIFICATION)));
        let others = [
            (r#"{"result":{"id":8,"a":"x"#, r#"xx","id":9}}"#),
            (r#"{"result":{"method":"a","a":"x"#, "xxx"),
            (r#"{"id":1,"id":2,"method":"a","params":{"#, "}}"),
            (r#"{"id":1.5,"result":{"a":"#, "1}}"),
            (r#"[{"id":7,"method":"a","params":{"#, "}}]"),
            ("no message", "at all"),
            ("", ""),
        ];
        check(&others.map(|(head, tail)| (head, tail, NEITHER)));
    }
}
