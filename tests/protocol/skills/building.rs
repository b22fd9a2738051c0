//! Rules for skills, checked before they are served.

use treenail::prelude::*;
use treenail::skills::Skills;

const FRONT: &str = "---\nname: a\ndescription: A.\n---\n";

#[test]
fn errors_name_the_file_and_the_rule() {
    let path_rule =
        "a path is relative, without `.`, `..` and empty parts, such as `plan-trip/SKILL.md`";
    for (files, expected) in [
        (
            &[][..],
            "there is no skill: give a file such as `plan-trip/SKILL.md`",
        ),
        (
            &[("a/skill.md", FRONT)],
            "`a/skill.md`: the file belongs to no skill: no folder around it has a `SKILL.md`",
        ),
        (
            &[("SKILL.md", FRONT)],
            "`SKILL.md`: a skill is a folder of its own; move it into a folder that has the name of the skill",
        ),
        (
            &[("b/SKILL.md", FRONT)],
            "`b/SKILL.md`: the name `a` is not that of the folder, `b`; rename one of them",
        ),
        (
            &[("x/a/SKILL.md", FRONT), ("y/a/SKILL.md", FRONT)],
            "`y/a/SKILL.md`: the name `a` is that of the skill `x/a/SKILL.md`; rename one of them",
        ),
        (
            &[("a/SKILL.md", FRONT), ("a/SKILL.md", FRONT)],
            "`a/SKILL.md`: the file is given twice",
        ),
        (
            &[
                ("a/SKILL.md", FRONT),
                ("a/b", ""),
                ("a/b-c", ""),
                ("a/b/c", ""),
            ],
            "`a/b`: it is a file and a folder; rename one of them",
        ),
        (
            &[("a/SKILL.md", "# A\n")],
            "`a/SKILL.md`: it does not start with front matter: a line `---`, YAML with `name` and `description`, and another line `---`",
        ),
        (
            &[("a/SKILL.md", "---\nname: a\n---\n")],
            "`a/SKILL.md`: the front matter has no `description`; add a line `description: …`",
        ),
        (
            &[("a/SKILL.md", "---\nname: a\nname: a\n---\n")],
            "`a/SKILL.md`: line 3: the key `name` is repeated",
        ),
        (
            &[("a\\SKILL.md", FRONT)],
            "`a\\SKILL.md`: a path has slashes, and no backslashes or control characters; rename the file",
        ),
    ] {
        let error = Skills::embedded(files.iter().copied()).unwrap_err();
        assert_eq!(
            error.to_string(),
            expected,
            "SKILL-S-03, SKILL-S-04, SKILL-S-15"
        );
    }
    for path in [
        "/a/SKILL.md",
        "a//SKILL.md",
        "./a/SKILL.md",
        "a/../a/SKILL.md",
    ] {
        let error = Skills::embedded([(path, FRONT)]).unwrap_err();
        assert_eq!(error.to_string(), format!("`{path}`: {path_rule}"));
    }
}

#[test]
fn files_and_sizes_are_bounded() {
    let names: Vec<_> = (0..511).map(|number| format!("a/{number}")).collect();
    let main = ("a/SKILL.md".to_owned(), FRONT.as_bytes().to_vec());
    let files = names.iter().map(|name| (name.clone(), Vec::new()));
    let full: Vec<_> = files.chain([main.clone()]).collect();
    Skills::embedded(full.clone()).unwrap();
    let one_more = full.into_iter().chain([("a/x".to_owned(), Vec::new())]);
    let error = Skills::embedded(one_more).unwrap_err().to_string();
    let expected = "`a/SKILL.md`: the skill has 513 files, more than 512; divide it, or move files out of its folder";
    assert_eq!(error, expected, "SKILL-S-14");
    let large = |size: usize| [main.clone(), ("a/x".to_owned(), vec![0; size])];
    let most = 16 * 1024 * 1024 - FRONT.len();
    Skills::embedded(large(most)).unwrap();
    let error = Skills::embedded(large(most + 1)).unwrap_err().to_string();
    assert!(
        error.contains("have 16777217 bytes, more than 16777216"),
        "SKILL-S-14: {error}"
    );
}

#[test]
fn totals_and_depth_are_bounded() {
    let large = (0..17).map(|number| (format!("s{number}/x"), vec![0; 16 << 20]));
    let error = Skills::embedded(large).unwrap_err().to_string();
    assert_eq!(
        error,
        "the files of all skills have more than 268435456 bytes"
    );
    let many = (0..65_537).map(|number| (format!("a/{number}"), ""));
    let error = Skills::embedded(many).unwrap_err().to_string();
    assert_eq!(error, "there are more than 65536 files and folders");
    let deep = |folders: usize| {
        let path = format!("a/{}", "x/".repeat(folders - 1));
        Skills::embedded([
            ("a/SKILL.md".to_owned(), FRONT),
            (format!("{path}x.md"), ""),
        ])
    };
    deep(16).unwrap();
    let error = deep(17).unwrap_err().to_string();
    assert!(
        error.ends_with("the file is more than 16 folders deep"),
        "{error}"
    );
}

#[test]
fn uris_belong_to_one_resource() {
    struct Own;

    #[mcp_tool]
    impl Own {
        #[resource("skill://a/SKILL.md")]
        fn own() -> &'static str {
            "own"
        }
    }

    let skills = Skills::embedded([("a/SKILL.md", FRONT)]).unwrap();
    let server = treenail::server!().mount(Own).extension(skills.clone());
    let error = server.build().unwrap_err().to_string();
    assert_eq!(
        error,
        "the server has another resource at `skill://a/SKILL.md`"
    );
    let twice = treenail::server!()
        .extension(skills.clone())
        .extension(skills);
    let error = twice.build().unwrap_err().to_string();
    assert!(error.contains("is added twice"), "{error}");
}
