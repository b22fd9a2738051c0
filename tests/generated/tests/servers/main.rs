//! The generated clients against the servers that they are of, which `tests/install` installs.

mod everything;
mod filesystem;
mod fresh;
mod installed;
mod memory;
