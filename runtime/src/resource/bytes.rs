//! Base64 encoding of serialized bytes.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Encodes bytes in base64, the form of images, audio and binary contents of resources in the types of the protocol.
///
/// ```
/// use treenail::schema::ContentBlock;
/// use treenail::tool::base64;
///
/// let png = b"\x89PNG";
/// let image = ContentBlock::image(base64(png), "image/png");
/// # drop(image);
/// # assert_eq!(base64(png), "iVBORw==");
/// ```
#[inline]
pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// Appends a list of bytes as base64. Returns false if the value is null.
pub(crate) fn write<T: Serialize>(value: &T, out: &mut Vec<u8>) -> serde_json::Result<bool> {
    let mut encoder = EncoderWriter::new(out, &STANDARD);
    let mut bytes = Bytes { is_null: false };
    value.serialize(&mut Serializer::with_formatter(&mut encoder, &mut bytes))?;
    encoder.finish().map_err(serde::ser::Error::custom)?;
    Ok(!bytes.is_null)
}

/// Formatter that writes each element of a list as a raw byte.
struct Bytes {
    is_null: bool,
}

impl Formatter for &mut Bytes {
    fn write_null<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_null = true;
        Ok(())
    }

    fn write_u8<W: ?Sized + Write>(&mut self, writer: &mut W, byte: u8) -> io::Result<()> {
        writer.write_all(&[byte])
    }

    fn write_byte_array<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        bytes: &[u8],
    ) -> io::Result<()> {
        writer.write_all(bytes)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_bytes_become_base64() {
        #[track_caller]
        fn check(value: &impl Serialize, expected: Option<&str>) {
            let mut out = b"x".to_vec();
            let written = write(value, &mut out).unwrap();
            assert_eq!(written, expected.is_some());
            assert_eq!(out, format!("x{}", expected.unwrap_or_default()).as_bytes());
        }
        check(&b"".to_vec(), Some(""));
        check(&b"any".to_vec(), Some("YW55"));
        check(&[0_u8, 255], Some("AP8="));
        check(&Some(&b"carnal pleas"[..]), Some("Y2FybmFsIHBsZWFz"));
        check(&None::<Vec<u8>>, None);
    }
}
