//! Extensions of the protocol: declarations of both sides, methods, the gate, and topics of subscriptions.

mod building;
mod calls;
mod declarations;
mod interest;
mod jobs;
mod topics;
mod typed;
