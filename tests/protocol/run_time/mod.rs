//! Features that are made at run time.

mod raw;
