//! Proxies of the framework Treenail: a server that serves all that other servers offer.
//!
//! Use the crate `treenail`, which re-exports this one as `treenail::proxy`.

// The modules, from the bytes up: `tap` and `tapped` (the messages of one connection), `calls`, `deadline` and `exchange`
// (requests in flight), `forward`, `answer` and `waiting` (requests of servers for their clients, between eras), `names`, `uris`, `matcher`,
// `template_uris` and `rewrite` (the view of clients), `lists`, `malformed`, `interface`, `features` and `omissions` (lists of a server as features of the proxy), `subscriptions`,
// `supervisor` (connection and changes), `mounted` and `proxy`.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
mod calls;
mod deadline;
mod event;
mod exchange;
mod failure;
mod features;
mod forward;
mod interface;
mod limits;
mod link;
mod lists;
mod malformed;
mod matcher;
mod mounted;
mod names;
mod omissions;
mod proxy;
mod race;
mod remote;
mod rewrite;
mod status;
mod subscriptions;
mod supervisor;
mod tap;
mod tapped;
mod template_uris;
mod upstream;
mod uris;
mod waiting;

pub use self::limits::ProxyLimits;
pub use self::mounted::Mounted;
pub use self::proxy::Proxy;
pub use self::remote::Remote;
pub use self::status::Status;
