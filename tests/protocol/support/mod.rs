//! Servers under test, the client of the tests, and the declarations of covered requirements.

pub(crate) mod asking;
pub(crate) mod covering;
pub(crate) mod echo;
pub(crate) mod faulty;
pub(crate) mod hotel;
pub(crate) mod library;
pub(crate) mod log;
pub(crate) mod made;
pub(crate) mod notes;
pub(crate) mod offer;
pub(crate) mod office;
pub(crate) mod peer;
pub(crate) mod reception;
pub(crate) mod shapes;
pub(crate) mod slow;
pub(crate) mod station;
pub(crate) mod stream_tools;
pub(crate) mod team;
pub(crate) mod validator;
pub(crate) mod weather;
