//! Random changes of texts, for tests of parsers.

/// Changes up to four places of a text: replaces, removes, inserts or repeats.
pub(crate) fn mutate(random: &mut fastrand::Rng, text: &str) -> String {
    const BYTES: &[u8] = b"AZaz09-_.=+/ \"{}[]:,\\\n\x00\xff";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.usize(1..=4) {
        let index = random.usize(..bytes.len().max(1));
        let byte = BYTES[random.usize(..BYTES.len())];
        match random.u8(..5) {
            0 if index < bytes.len() => bytes[index] = byte,
            1 if index < bytes.len() => drop(bytes.remove(index)),
            2 => bytes.truncate(index),
            3 => {
                let range = index..(index + random.usize(..40)).min(bytes.len());
                let part = bytes[range].to_vec();
                let target = random.usize(..=bytes.len());
                bytes.splice(target..target, part);
            }
            _ => bytes.insert(index.min(bytes.len()), byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
