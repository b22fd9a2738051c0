//! Files of the page, which are part of the program.

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Defines a table of files: path in the URL, content type, and content.
macro_rules! files {
    ($($path:literal $kind:ident $file:literal,)*) => {
        const FILES: &[(&str, &str, &str)] = &[
            $(($path, $kind, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/inspector/", $file))),)*
        ];
    };
}

files! {
    "/" HTML "index.html",
    "/icon.svg" SVG "icon.svg",
    "/style.css" CSS "style.css",
    "/components.css" CSS "components.css",
    "/app.js" JAVASCRIPT "app.js",
    "/asks.js" JAVASCRIPT "asks.js",
    "/calls.js" JAVASCRIPT "calls.js",
    "/client.js" JAVASCRIPT "client.js",
    "/content.js" JAVASCRIPT "content.js",
    "/controls.js" JAVASCRIPT "controls.js",
    "/dialog.js" JAVASCRIPT "dialog.js",
    "/dom.js" JAVASCRIPT "dom.js",
    "/fields.js" JAVASCRIPT "fields.js",
    "/form.js" JAVASCRIPT "form.js",
    "/groups.js" JAVASCRIPT "groups.js",
    "/json.js" JAVASCRIPT "json.js",
    "/messages.js" JAVASCRIPT "messages.js",
    "/numbers.js" JAVASCRIPT "numbers.js",
    "/prompts.js" JAVASCRIPT "prompts.js",
    "/resources.js" JAVASCRIPT "resources.js",
    "/schema.js" JAVASCRIPT "schema.js",
    "/server.js" JAVASCRIPT "server.js",
    "/tools.js" JAVASCRIPT "tools.js",
    "/validate.js" JAVASCRIPT "validate.js",
}

/// Returns the content type and the content of a file.
pub(super) fn find(path: &str) -> Option<(&'static str, &'static str)> {
    let file = FILES.iter().find(|(name, ..)| *name == path)?;
    Some((file.1, file.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_refer_to_nothing_outside() {
        for (name, _, text) in FILES {
            for word in [
                "https://",
                "http://",
                "innerHTML",
                "eval(",
                "import(\"",
                "//cdn",
            ] {
                let text = text.replace("http://www.w3.org/2000/svg", "");
                assert!(!text.contains(word), "{name} contains {word}");
            }
        }
    }

    #[test]
    fn imported_files_are_served() {
        for (name, _, text) in FILES {
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let path = line.split('"').nth(1).unwrap().trim_start_matches('.');
                assert!(find(path).is_some(), "{name} imports {path}");
            }
        }
    }
}
