//! libFuzzer around the targets. `FUZZ_TARGET` selects one by its name.

#![no_main]

use std::sync::OnceLock;

use fuzz::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").expect("`FUZZ_TARGET` is not set");
        Target::named(&name).expect("there is no target of this name")
    });
    (target.run)(data);
});
