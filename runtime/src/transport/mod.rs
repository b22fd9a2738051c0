//! Ways in which messages travel.

mod line;
mod stdio;
