use treenail::prelude::*;

async fn serve(server: Server) -> treenail::Result<()> {
    server.serve_http("127.0.0.1:8080").await
}

fn main() {
    drop(serve);
}
