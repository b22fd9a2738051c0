//! File of a skill, in memory.

use treenail_runtime::base64;
use treenail_schema::{Resource, ResourceContents};

use crate::digest::sha256;
use crate::uri::{self, last};

/// File of one or more skills.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) uri: Box<str>,
    /// The path below the folder of the skills, with slashes.
    pub(crate) path: Box<str>,
    data: Data,
    mime_type: &'static str,
    pub(crate) digest: String,
    /// The skills that it belongs to, by position: one, and those around it.
    pub(crate) skills: Vec<usize>,
}

/// Bytes of a file.
#[derive(Debug)]
enum Data {
    /// They are UTF-8.
    Text(String),
    Binary(Vec<u8>),
}

impl File {
    pub(crate) fn new(path: String, bytes: Vec<u8>) -> Self {
        let digest = sha256(&bytes);
        let data = match String::from_utf8(bytes) {
            Ok(text) => Data::Text(text),
            Err(error) => Data::Binary(error.into_bytes()),
        };
        Self {
            uri: uri::of_path(&path).into(),
            mime_type: mime_type(last(&path), &data),
            digest,
            data,
            path: path.into(),
            skills: Vec::new(),
        }
    }

    /// Returns the last segment of the path.
    pub(crate) fn name(&self) -> &str {
        last(&self.path)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Text(text) => text.as_bytes(),
            Data::Binary(bytes) => bytes,
        }
    }

    /// Returns the contents: text if the bytes are UTF-8, and otherwise a blob.
    pub(crate) fn contents(&self) -> ResourceContents {
        let contents = match &self.data {
            Data::Text(text) => ResourceContents::text(&*self.uri, &**text),
            Data::Binary(bytes) => ResourceContents::blob(&*self.uri, base64(bytes)),
        };
        contents.with_mime_type(self.mime_type)
    }

    /// Returns the descriptor for lists.
    pub(crate) fn resource(&self) -> Resource {
        let mut resource = Resource::new(&*self.uri, self.name());
        resource.mime_type = Some(self.mime_type.to_owned());
        resource.size = i64::try_from(self.bytes().len()).ok();
        resource
    }
}

fn mime_type(name: &str, data: &Data) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    match (extension.unwrap_or_default(), data) {
        ("md", _) => "text/markdown",
        ("json", _) => "application/json",
        ("html", _) => "text/html",
        ("css", _) => "text/css",
        ("csv", _) => "text/csv",
        ("js", _) => "text/javascript",
        ("svg", _) => "image/svg+xml",
        ("png", _) => "image/png",
        ("jpg" | "jpeg", _) => "image/jpeg",
        ("pdf", _) => "application/pdf",
        (_, Data::Text(_)) => "text/plain",
        (_, Data::Binary(_)) => "application/octet-stream",
    }
}
