//! Certificates and keys in PEM.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::{Error, PemObject, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use treenail_schema::internal::quoted;
use zeroize::Zeroizing;

use crate::error::HttpError;

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Maximum number of blocks that an error names.
const MAX_LABELS: usize = 4;
const BEGIN: &str = "-----BEGIN ";

/// Part of the settings that PEM contains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Authorities,
    Certificate,
    Key,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Authorities => "certificate authorities",
            Self::Certificate => "client certificate",
            Self::Key => "client key",
        })
    }
}

/// PEM of one part of the settings.
#[derive(Clone)]
pub(super) struct Source {
    part: Part,
    place: Place,
}

#[derive(Clone)]
enum Place {
    File(Arc<Path>),
    Text(Arc<Zeroizing<Vec<u8>>>),
}

impl Source {
    pub(super) fn file(part: Part, path: PathBuf) -> Self {
        let place = Place::File(path.into());
        Self { part, place }
    }

    pub(super) fn text(part: Part, pem: Vec<u8>) -> Self {
        let place = Place::Text(Arc::new(Zeroizing::new(pem)));
        Self { part, place }
    }

    /// Returns all certificates, at least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, HttpError> {
        let pem = self.read()?;
        let mut certificates = Vec::new();
        for (number, block) in blocks(&pem).enumerate() {
            match block {
                Ok((SectionKind::Certificate, der)) => certificates.push(der.into()),
                Ok(_) => {}
                Err(error) => return Err(self.malformed(number + 1, &error)),
            }
        }
        if certificates.is_empty() {
            return Err(self.missing("certificate", &pem));
        }
        Ok(certificates)
    }

    /// Returns the first key.
    pub(super) fn key(&self) -> Result<PrivateKeyDer<'static>, HttpError> {
        let pem = self.read()?;
        for (number, block) in blocks(&pem).enumerate() {
            match block.map(|(kind, der)| PrivateKeyDer::from_pem(kind, der)) {
                Ok(Some(key)) => return Ok(key),
                Ok(None) => {}
                Err(_) if is_encrypted(&pem) => return Err(self.encrypted()),
                Err(error) => return Err(self.malformed(number + 1, &error)),
            }
        }
        if is_encrypted(&pem) {
            return Err(self.encrypted());
        }
        Err(self.missing("private key", &pem))
    }

    fn read(&self) -> Result<Arc<Zeroizing<Vec<u8>>>, HttpError> {
        let path = match &self.place {
            Place::Text(pem) => return Ok(Arc::clone(pem)),
            Place::File(path) => path,
        };
        let mut content = Zeroizing::new(Vec::new());
        let read = File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content));
        match read {
            Ok(length) if length as u64 > MAX_FILE_BYTES => {
                let limit = MAX_FILE_BYTES >> 20;
                Err(self.error(format_args!("the file has more than {limit} MiB")))
            }
            Ok(_) => Ok(Arc::new(content)),
            Err(error) => Err(self.error(format_args!("the file cannot be read: {error}"))),
        }
    }

    /// Returns an error with the place of the PEM.
    pub(super) fn error(&self, reason: impl fmt::Display) -> HttpError {
        HttpError::invalid(format!("{self}: {reason}"))
    }

    fn missing(&self, wanted: &str, pem: &[u8]) -> HttpError {
        let labels = labels(pem);
        if labels.is_empty() {
            return self.error(format_args!(
                "there is no PEM, which starts with `{BEGIN}…`; convert other formats with `openssl`"
            ));
        }
        let labels = labels.join(", ");
        self.error(format_args!("there is no {wanted}, but {labels}"))
    }

    fn malformed(&self, number: usize, error: &Error) -> HttpError {
        // The texts of the parser contain lines, which may be those of a key.
        let problem = match error {
            Error::MissingSectionEnd { .. } => "has no end line",
            Error::IllegalSectionStart { .. } => "has a malformed start line",
            Error::Base64Decode(_) => "is not base64",
            _ => "is malformed",
        };
        self.error(format_args!("block {number} {problem}"))
    }

    fn encrypted(&self) -> HttpError {
        self.error("the key is encrypted; decrypt it, for example with `openssl pkey`")
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(path) => write!(formatter, "{} in `{}`", self.part, path.display()),
            Place::Text(_) => write!(formatter, "{} in the given PEM", self.part),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File(path) => path.fmt(formatter),
            Place::Text(_) => formatter.write_str("PEM"),
        }
    }
}

type Block = Result<(SectionKind, Vec<u8>), Error>;

/// Returns the blocks of known kinds.
fn blocks(pem: &[u8]) -> impl Iterator<Item = Block> {
    PemObject::pem_slice_iter(pem)
}

/// Returns the kinds of the first blocks, quoted.
fn labels(pem: &[u8]) -> Vec<String> {
    // The parser ends a line at either.
    let lines = pem.split(|byte| matches!(byte, b'\n' | b'\r'));
    let labels = lines.filter_map(|line| line.strip_prefix(BEGIN.as_bytes()));
    let texts = labels.map(|label| {
        let label = String::from_utf8_lossy(label);
        quoted(label.split("-----").next().unwrap_or_default())
    });
    texts.take(MAX_LABELS).collect()
}

/// Returns true if PEM contains an encrypted key, of PKCS #8 or of the older format of OpenSSL.
fn is_encrypted(pem: &[u8]) -> bool {
    const MARKS: [&[u8]; 2] = [b"BEGIN ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];
    let mut marks = MARKS.iter();
    marks.any(|mark| memchr::memmem::find(pem, mark).is_some())
}
