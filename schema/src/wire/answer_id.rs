//! Ids of responses of which only the first and last bytes are available.

/// Returns the id of an answer from its first and last bytes. The id precedes or follows the result. A message that looks
/// like a request has no such id.
pub fn id_at_ends(head: &[u8], tail: &[u8]) -> Option<i64> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    answer_id(&head, &tail)?.parse().ok()
}

/// Returns the text of the id that [`id_at_ends`] parses.
pub(super) fn answer_id<'a>(head: &'a str, tail: &'a str) -> Option<&'a str> {
    const KEY: &str = "\"id\":";

    let first_of = |members: [&str; 2]| members.iter().filter_map(|it| head.find(it)).min();
    let answer = first_of(["\"result\"", "\"error\""]);
    let request = first_of(["\"method\"", "\"params\""]);
    if request.is_some_and(|request| answer.is_none_or(|answer| request < answer)) {
        return None;
    }
    let envelope = &head[..answer.unwrap_or(head.len())];
    let (id, rest) = match (envelope.find(KEY), tail.rfind(KEY)) {
        (Some(at), _) => split_number(&envelope[at + KEY.len()..]),
        (None, Some(at)) => split_number(&tail[at + KEY.len()..]),
        (None, None) => return None,
    };
    let is_end = |rest: &str| {
        let rest = rest.trim_start_matches(",\"jsonrpc\":\"2.0\"");
        rest.trim() == "}"
    };
    let is_outermost = envelope.contains(KEY) || is_end(rest);
    Some(id).filter(|id| is_outermost && !id.is_empty())
}

/// Splits a leading number from a text.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let is_digit = |character: char| character == '-' || character.is_ascii_digit();
    let end = text.find(|character| !is_digit(character));
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_answer_is_found_at_its_ends() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"a":"x"#,
                "xxx",
                Some(7),
            ),
            (r#"{"id": 7,"result":{"id":8"#, r#"xx","id":9}"#, Some(7)),
            (
                r#"{"result":{"id":8,"a":"x"#,
                r#"xx"},"jsonrpc":"2.0","id":9}"#,
                Some(9),
            ),
            (
                r#"{"result":{"a":"x"#,
                r#"xx"},"id":9,"jsonrpc":"2.0"}"#,
                Some(9),
            ),
            (r#"{"result":{"id":8,"a":"x"#, r#"xx","id":9}}"#, None),
            (r#"{"result":{"a":"x"#, "xxx", None),
            (r#"{"jsonrpc":"2.0","id":"s","result":{"a":"x"#, "xxx", None),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"result":"#,
                r#"xx"}}"#,
                None,
            ),
            (r#"{"params":{"a":"x"#, r#"xx"},"method":"a","id":9}"#, None),
            ("no message", "at all", None),
        ];
        for (head, tail, id) in cases {
            assert_eq!(
                id_at_ends(head.as_bytes(), tail.as_bytes()),
                id,
                "{head} … {tail}"
            );
        }
    }
}
