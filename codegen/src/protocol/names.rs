//! Names of definitions that have none in the schema.

/// The type of `_meta` in a definition, which depends on the kind of message.
pub(crate) fn meta_object(definition: &str) -> &'static str {
    if definition.ends_with("NotificationParams") {
        "NotificationMetaObject"
    } else if definition.ends_with("Params") {
        "RequestMetaObject"
    } else if definition.ends_with("Result") {
        "ResultMetaObject"
    } else {
        "MetaObject"
    }
}

/// `ClientCapabilitiesTasksRequests` for `ClientCapabilitiesTasks.requests`.
pub(crate) fn inline(at: &str) -> String {
    let path = at.replace("[]", ".item").replace("{}", ".value");
    path.split('.')
        .map(|part| {
            let mut letters = part.chars();
            letters
                .next()
                .into_iter()
                .flat_map(char::to_uppercase)
                .chain(letters)
                .collect::<String>()
        })
        .collect()
}
