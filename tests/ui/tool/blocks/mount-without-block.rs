use treenail::server;

struct Map;

fn main() {
    server!().mount(Map);
}
