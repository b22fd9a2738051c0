//! The blocks of rmcp in the guide, which have to compile.

#![allow(dead_code, reason = "the blocks are compiled only")]

include!(concat!(env!("OUT_DIR"), "/guide.rs"));

fn main() {}
