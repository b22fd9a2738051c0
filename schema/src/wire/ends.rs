//! Id of a request of which only the first and last bytes are known.

use crate::wire::message::is_request_id;
use crate::wire::{DEEPEST, Members, Scanner};

/// Returns the JSON text of the id of a request, given the first and last bytes of its text. The first ones must contain the
/// method, because an answer has an id of the other peer.
pub fn request_id_at_ends<'a>(head: &'a [u8], tail: &'a [u8]) -> Option<&'a str> {
    let head = head.utf8_chunks().next()?.valid();
    // A member that is complete is followed by a comma. The number after the last one may be cut off.
    let head = &head[..head.rfind(',')?];
    let mut members = Members::new(head).ok()?;
    let (mut id, mut is_request) = (None, false);
    while let Ok(Some((key, value))) = members.next() {
        match &*key {
            "method" => is_request = true,
            "id" if id.replace(value).is_some() => return None,
            "result" | "error" => return None,
            _ => {}
        }
    }
    if !is_request {
        return None;
    }
    let id = id.or_else(|| id_at_end(tail));
    id.filter(|id| is_request_id(id))
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

    #[test]
    fn the_id_of_a_long_request_is_found_at_its_ends() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{"a":"x"#,
                r#"x"}}"#,
                Some("7"),
            ),
            (
                r#"{"id": "s,7", "method":"a","params":{"id":8,"a":"x"#,
                r#"xx","id":9}}"#,
                Some(r#""s,7""#),
            ),
            (
                r#"{"method":"a","params":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                Some("9"),
            ),
            (
                r#"{"method":"a","_meta":{"id":8},"params":{"a":"x"#,
                r#"é"},"id":"é","jsonrpc":"2.0"} "#,
                Some(r#""é""#),
            ),
            // The end of the number is not known.
            (r#"{"jsonrpc":"2.0","method":"a","id":12"#, "xx\"}}", None),
            (
                r#"{"method":"a","params":{"id":8,"a":"x"#,
                r#"x","id":9}}"#,
                None,
            ),
            (
                r#"{"method":"a","params":{"a":"x"#,
                r#"x \"id\":9}"}}"#,
                None,
            ),
            (r#"{"id":1,"id":2,"method":"a","params":{"#, "}}", None),
            (r#"{"id":null,"method":"a","params":{"a":"#, "1}}", None),
            (r#"{"id":7,"result":{"method":"a","a":"x"#, "x\"}}", None),
            (
                r#"{"id":7,"method":"a","result":{"a":"x","#,
                "x\"}}",
                Some("7"),
            ),
            (r#"[{"id":7,"method":"a","params":{"#, "}}]", None),
            ("xxx", "xxx", None),
            ("", "", None),
        ];
        for (head, tail, id) in cases {
            assert_eq!(
                request_id_at_ends(head.as_bytes(), tail.as_bytes()),
                id,
                "{head} … {tail}"
            );
        }
        // A character is cut off at both ends.
        let (head, tail) = (
            b"{\"id\":7,\"method\":\"a\",\"b\":\"\xc3",
            b"\xa9\"},\"id\":8}",
        );
        assert_eq!(request_id_at_ends(head, tail), Some("7"));
        assert_eq!(
            request_id_at_ends(b"{\"method\":\"a\",\"b\":\"\xc3", tail),
            Some("8")
        );
    }
}
