//! Bundle: a zip archive. Equal input gives equal bytes.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use ring::digest;

use super::manifest::entry_point;
use super::program::Binary;
use crate::exit::{Exit, Failure};

/// Returns the bytes of a bundle.
pub(super) fn write_bundle(manifest: &str, binary: &Binary) -> Result<Vec<u8>, Failure> {
    let files = [
        ("manifest.json", manifest.as_bytes(), 0o644),
        (&entry_point(binary), &binary.bytes, 0o755),
    ];
    let failure = |error| Failure::new(Exit::Io, format!("could not write the bundle: {error}"));
    archive(&files).map_err(failure)
}

fn archive(files: &[(&str, &[u8], u32)]) -> io::Result<Vec<u8>> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    // The first moment that a zip archive can express.
    let time = UtcDateTime::from_components(1980, 1, 1, 0, 0, 0, 0);
    for &(name, bytes, permissions) in files {
        let mut file = archive
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE)
            .unix_permissions(permissions);
        if let Some(time) = time {
            file = file.last_modified(time);
        }
        let (mut entry, config) = file.start().map_err(io::Error::other)?;
        let encoder = DeflateEncoder::new(&mut entry, Compression::default());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes)?;
        let (encoder, descriptor) = writer.finish().map_err(io::Error::other)?;
        encoder.finish()?;
        entry.finish(descriptor).map_err(io::Error::other)?;
    }
    archive.finish().map_err(io::Error::other)
}

/// Returns the SHA-256 digest as lower-case hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, bytes);
    digest
        .as_ref()
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _infallible = write!(text, "{byte:02x}");
            text
        })
}
