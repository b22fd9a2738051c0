fn main() {
    let _ = treenail::server!("harbour", "1.0").build();
}
