//! File of a skill, in memory.

use treenail_runtime::base64;
use treenail_schema::{Resource, ResourceContents};

use crate::digest::sha256;
use crate::uri;

/// File of one or more skills.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) uri: Box<str>,
    /// The path below the folder of the skills, with slashes.
    pub(crate) path: Box<str>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: String,
    /// The skills that it belongs to, by position: one, and those around it.
    pub(crate) skills: Vec<usize>,
}

impl File {
    pub(crate) fn new(path: String, bytes: Vec<u8>) -> Self {
        Self {
            uri: uri::of_path(&path).into(),
            digest: sha256(&bytes),
            path: path.into(),
            bytes,
            skills: Vec::new(),
        }
    }

    /// Returns the last segment of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    fn mime_type(&self) -> &'static str {
        let extension = self.name().rsplit_once('.').map(|(_, extension)| extension);
        match extension.unwrap_or_default() {
            "md" => "text/markdown",
            "json" => "application/json",
            "html" => "text/html",
            "css" => "text/css",
            "csv" => "text/csv",
            "js" => "text/javascript",
            "svg" => "image/svg+xml",
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "pdf" => "application/pdf",
            _ if self.text().is_some() => "text/plain",
            _ => "application/octet-stream",
        }
    }

    /// Returns the contents: text if the bytes are UTF-8, and otherwise a blob.
    pub(crate) fn contents(&self) -> ResourceContents {
        let contents = match self.text() {
            Some(text) => ResourceContents::text(&*self.uri, text),
            None => ResourceContents::blob(&*self.uri, base64(&self.bytes)),
        };
        contents.with_mime_type(self.mime_type())
    }

    /// Returns the descriptor for lists.
    pub(crate) fn resource(&self) -> Resource {
        let mut resource = Resource::new(&*self.uri, self.name());
        resource.mime_type = Some(self.mime_type().to_owned());
        resource.size = i64::try_from(self.bytes.len()).ok();
        resource
    }
}
