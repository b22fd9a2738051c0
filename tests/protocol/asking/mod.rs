//! Questions that functions ask their client, in both eras.

mod binding;
mod bounds;
mod eras;
mod hotel;
mod legacy;
mod sampling;
mod state;
mod within;
