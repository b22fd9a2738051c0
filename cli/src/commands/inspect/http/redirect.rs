//! File that leads a browser to the page.
//!
//! Other users of the computer can see the arguments of processes, so the browser is started with the path of a private file in
//! place of a URL with a secret.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Private HTML file, which is deleted when it is dropped.
pub(super) struct RedirectFile(TempPath);

impl RedirectFile {
    /// Creates a file that leads to a URL, which contains no character that HTML escapes.
    pub(super) fn create(url: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        // On Unix, only the user may read the file.
        let builder = builder.prefix("treenail-inspect-").suffix(".html");
        let mut file = builder.tempfile_in(folder())?;
        write!(
            file,
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Treenail Inspector</title>\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
             <p><a href=\"{url}\">Open the page</a></p>\n"
        )?;
        Ok(Self(file.into_temp_path()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

/// Returns a folder that browsers can read. Those of snap packages have a `/tmp` of their own, but read the home directory.
fn folder() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute() && Path::new("/var/lib/snapd").is_dir());
    home.unwrap_or_else(std::env::temp_dir)
}
