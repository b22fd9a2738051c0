use treenail::prelude::*;

fn main() -> treenail::Result<()> {
    let server = treenail::server!().layer(1).build()?;
    drop::<Server>(server);
    Ok(())
}
