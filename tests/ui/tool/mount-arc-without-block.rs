use std::sync::Arc;

use treenail::server;

struct Map;

fn main() {
    server!().mount(Arc::new(Map));
}
