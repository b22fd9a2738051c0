//! `treenail dev`: builds, restarts, and clients that stay connected.

mod cargo;
mod ending;
mod launch;
mod outputs;
mod project;
mod restart;
