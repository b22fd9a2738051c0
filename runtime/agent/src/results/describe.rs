//! Conversion of result content to pieces; unsupported content becomes a description.

use std::borrow::Cow;
use std::fmt::Write;

use treenail_schema::{
    BlobResourceContents, ContentBlock, EmbeddedResource, ResourceContents, ResourceLink,
};

use crate::ModelCapabilities;

/// Maximum length of a name, type or description, in characters.
const MAX_FIELD_CHARS: usize = 300;

/// Maximum length of the type of an image or audio that the model gets, in bytes.
const MAX_MEDIA_TYPE_BYTES: usize = 127;

/// Maximum length of a URI, in characters.
const MAX_URI_CHARS: usize = 2048;

/// Piece of a result.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    /// Image or audio, and its description.
    Media(Box<ContentBlock>, String),
}

pub(super) fn describe(block: &ContentBlock, capabilities: ModelCapabilities) -> Piece<'_> {
    match block {
        ContentBlock::Text(content) => Piece::Text(content.text.as_str().into()),
        ContentBlock::Image(image) => {
            let description = describe_media("image", &image.mime_type, &image.data);
            let kind = capabilities.images.then_some(MediaKind::Image);
            media_piece(kind, &image.data, &image.mime_type, description)
        }
        ContentBlock::Audio(audio) => {
            let description = describe_media("audio", &audio.mime_type, &audio.data);
            let kind = capabilities.audio.then_some(MediaKind::Audio);
            media_piece(kind, &audio.data, &audio.mime_type, description)
        }
        ContentBlock::ResourceLink(resource) => Piece::Text(describe_link(resource).into()),
        ContentBlock::Resource(resource) => describe_embedded(resource, capabilities),
        _ => Piece::Text("[content of an unknown type]".into()),
    }
}

#[derive(Clone, Copy)]
enum MediaKind {
    Image,
    Audio,
}

/// Returns media of a kind that the model supports, with nothing but their data and type. All others are described.
fn media_piece<'a>(
    kind: Option<MediaKind>,
    data: &str,
    mime_type: &str,
    description: String,
) -> Piece<'a> {
    let is_valid = is_media_type(mime_type) && is_base64(data);
    let block = match kind.filter(|_| is_valid) {
        Some(MediaKind::Image) => ContentBlock::image(data, mime_type),
        Some(MediaKind::Audio) => ContentBlock::audio(data, mime_type),
        None => return Piece::Text(format!("[{description}, which you cannot process]").into()),
    };
    Piece::Media(Box::new(block), description)
}

/// Returns the size of the data and type of an image or audio, in bytes. It is 0 for other content.
pub(crate) fn media_bytes(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Image(image) => image.data.len() + image.mime_type.len(),
        ContentBlock::Audio(audio) => audio.data.len() + audio.mime_type.len(),
        _ => 0,
    }
}

/// Returns true if a type is short and on one line.
fn is_media_type(mime_type: &str) -> bool {
    let is_printable = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    mime_type.len() <= MAX_MEDIA_TYPE_BYTES && mime_type.bytes().all(is_printable)
}

/// Returns true if a text is base64 with its padding, and not empty.
pub(crate) fn is_base64(data: &str) -> bool {
    let letters = data.trim_end_matches('=');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !letters.is_empty()
        && data.len() - letters.len() <= 2
        && data.len() % 4 == 0
        && letters.bytes().all(is_letter)
}

fn describe_media(kind: &str, mime_type: &str, data: &str) -> String {
    format!(
        "{kind} of type {}, {}",
        single_line(mime_type, MAX_FIELD_CHARS),
        format_size(decoded_len(data))
    )
}

/// Describes a resource link, with its full URI, because the model needs that to use it.
fn describe_link(link: &ResourceLink) -> String {
    let name = link.title.as_ref().unwrap_or(&link.name);
    let mut text = format!(
        "[resource {}: {}",
        single_line(name, MAX_FIELD_CHARS),
        single_line(&link.uri, MAX_URI_CHARS)
    );
    if let Some(mime_type) = &link.mime_type {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            ", of type {}",
            single_line(mime_type, MAX_FIELD_CHARS)
        );
    }
    if let Some(bytes) = link.size.and_then(|size| u64::try_from(size).ok()) {
        let _ = write!(text, ", {}", format_size(bytes));
    }
    if let Some(description) = &link.description {
        let _ = write!(text, "; {}", single_line(description, MAX_FIELD_CHARS));
    }
    text.push(']');
    text
}

fn describe_embedded(resource: &EmbeddedResource, capabilities: ModelCapabilities) -> Piece<'_> {
    match &resource.resource {
        ResourceContents::Text(contents) => {
            let mime_type = contents.mime_type.as_deref();
            let heading = heading(&contents.uri, mime_type);
            Piece::Text(format!("[{heading}]\n{}", contents.text).into())
        }
        ResourceContents::Blob(contents) => describe_blob(contents, capabilities),
        _ => Piece::Text("[a resource of an unknown kind]".into()),
    }
}

/// Converts binary resource contents; images and audio become media if the model supports them.
fn describe_blob(contents: &BlobResourceContents, capabilities: ModelCapabilities) -> Piece<'_> {
    let mime_type = contents.mime_type.as_deref().unwrap_or_default();
    let heading = heading(&contents.uri, contents.mime_type.as_deref());
    let description = format!("{heading}, {}", format_size(decoded_len(&contents.blob)));
    let kind = if capabilities.images && mime_type.starts_with("image/") {
        Some(MediaKind::Image)
    } else if capabilities.audio && mime_type.starts_with("audio/") {
        Some(MediaKind::Audio)
    } else {
        None
    };
    media_piece(kind, &contents.blob, mime_type, description)
}

fn heading(uri: &str, mime_type: Option<&str>) -> String {
    let uri = single_line(uri, MAX_URI_CHARS);
    match mime_type {
        Some(mime_type) => format!(
            "resource {uri}, of type {}",
            single_line(mime_type, MAX_FIELD_CHARS)
        ),
        None => format!("resource {uri}"),
    }
}

/// Puts text on one line and truncates it to a number of characters.
fn single_line(text: &str, max: usize) -> String {
    let mut characters = text.chars();
    let shown = characters.by_ref().take(max);
    let space = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    let mut line: String = shown.map(space).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

/// Decoded size of base64 text, in bytes.
fn decoded_len(base64: &str) -> u64 {
    let letters = base64.trim_end_matches('=').len() as u64;
    letters * 3 / 4
}

/// Formats a size for reading.
pub(super) fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];

    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut tenths = bytes.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let (whole, tenth) = (tenths / 10, tenths % 10);
    match tenth {
        0 => format!("{whole} {}", UNITS[unit]),
        _ => format!("{whole}.{tenth} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_human_readable() {
        let table = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (12_700, "12.4 KiB"),
            (1 << 20, "1 MiB"),
            (5 << 30, "5 GiB"),
            (u64::MAX, "1677721.5 TiB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(format_size(bytes), expected);
        }
        assert_eq!(decoded_len("QUI="), 2);
        assert_eq!(decoded_len("QUJD"), 3);
    }

    #[test]
    fn base64_is_recognized() {
        for valid in ["QQ==", "QUI=", "QUJD", "+/+/"] {
            assert!(is_base64(valid), "{valid}");
        }
        for invalid in ["", "====", "Q===", "QUI", "QU=D", "QUJD\n", "QU_D", "ØØ"] {
            assert!(!is_base64(invalid), "{invalid}");
        }
    }
}
