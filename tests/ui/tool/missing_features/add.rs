use treenail::prelude::*;

fn main() -> treenail::Result<()> {
    let server = treenail::server!().add([1]).build()?;
    drop::<Server>(server);
    Ok(())
}
