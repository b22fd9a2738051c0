//! Skills.

use treenail::skills::Skills;

const TRIP: &str = "\
---
name: plan-trip
description: Plans a trip.
license: MIT
metadata:
  version: \"1.0\"
---
Ask for the dates. For visas, read [the list](references/visas.md).
";

/// Returns a skill with a file in a folder, which the suite needs in the first skill, and another one.
pub(crate) fn skills() -> treenail::Result<Skills> {
    Skills::embedded([
        ("plan-trip/SKILL.md", TRIP),
        ("plan-trip/references/visas.md", "None.\n"),
        (
            "work/book-room/SKILL.md",
            "---\nname: book-room\ndescription: Books a room.\n---\n",
        ),
    ])
}
