//! The session of a client over HTTP, through its trait: with our own server, and with servers that are old or hostile.

mod broken;
mod ears;
mod legacy;
mod modern;
mod older;
mod patience;
mod redirects;
mod script;
mod streams;
