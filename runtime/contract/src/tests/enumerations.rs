//! Tests of choices of constants, and of alternatives that exclude each other without a tag.

use serde_json::{Value, json};

use super::schemas::check;

#[test]
fn a_choice_of_constants_is_an_enumeration() {
    let plain = json!({"type": "string", "enum": ["a", "b"]});
    for choice in [
        json!({"oneOf": [{"type": "string", "const": "a"}, {"enum": ["b"]}]}),
        json!({"type": "string", "anyOf": [{"const": "a"}, {"enum": ["b", "a", 1]}]}),
        json!({"anyOf": [{"enum": ["b", 1], "type": "string"}, {"const": "a"}]}),
        json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
    ] {
        check(&plain, &choice, "", "");
        check(&choice, &plain, "", "");
        let more = json!({"enum": ["a", "b", "c"]});
        check(&choice, &more, "+/enum", "!/enum");
        check(&more, &choice, "!/enum", "+/enum");
    }
    let one = json!({"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]});
    for nullable in [
        json!({"enum": ["b", null, "a"]}),
        json!({"anyOf": [{"type": "null"}, plain]}),
        json!({"anyOf": [{"oneOf": [{"const": "b"}, {"const": "a"}]}, {"type": "null"}]}),
    ] {
        check(&one, &nullable, "", "");
        check(&nullable, &one, "", "");
        check(&one, &plain, "!/enum", "+/enum");
    }
    check(&plain, &one, "+/enum", "!/enum");
    // `b` matches both branches, so it is not allowed.
    let overlapping = json!({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]});
    check(
        &plain,
        &overlapping,
        "+/enum +/type !/oneOf",
        "!/enum !/type +/oneOf",
    );
}

#[test]
fn constants_beside_a_keyword_are_branches_if_the_other_choice_has_more() {
    for choice in ["anyOf", "oneOf"] {
        let constants = json!([{"const": "a"}, {"const": "b"}]);
        let recorded = json!({"type": "string", choice: constants});
        let long = json!({"type": "string", choice: constants, "minLength": 1});
        check(&recorded, &long, "!/minLength", "+/minLength");
        check(&long, &recorded, "+/minLength", "!/minLength");
    }
    let constants = json!([{"const": "a"}, {"const": "b"}]);
    let recorded = json!({"type": "string", "anyOf": constants});
    let more = json!([{"const": "a"}, {"const": "b"}, {"pattern": "^x"}]);
    let open = json!({"type": "string", "anyOf": more});
    let text = "~/anyOf/2/pattern";
    check(
        &recorded,
        &open,
        &format!("+/anyOf {text}"),
        &format!("!/anyOf {text}"),
    );
    check(&open, &recorded, "!/anyOf", "+/anyOf");
}

#[test]
fn texts_of_constants_are_compared_by_value() {
    let choice = |texts: &[(&str, &str)]| {
        let branches = texts.iter();
        let branch = |(value, text): &(&str, &str)| json!({"const": value, "description": text});
        json!({"oneOf": branches.map(branch).collect::<Vec<_>>()})
    };
    let recorded = choice(&[("a", "A"), ("b", "B")]);
    check(&recorded, &choice(&[("b", "B"), ("a", "A")]), "", "");
    let swapped = choice(&[("a", "B"), ("b", "A")]);
    let both = "~/oneOf/0/description ~/oneOf/1/description";
    check(&recorded, &swapped, both, both);
    let without = json!({"oneOf": [{"const": "a"}, {"const": "b", "description": "B"}]});
    let first = "~/oneOf/0/description";
    check(&recorded, &without, first, first);
    check(&json!({"enum": ["a", "b"]}), &recorded, both, both);
}

#[test]
fn constants_beside_other_alternatives_are_compared_together() {
    let circle = json!({
        "type": "object", "properties": {"circle": {"type": "number"}}, "required": ["circle"],
        "additionalProperties": false,
    });
    let shape = |mut branches: Vec<Value>| {
        branches.push(circle.clone());
        json!({ "oneOf": branches })
    };
    let recorded = shape(vec![json!({"type": "string", "enum": ["line", "point"]})]);
    let point = json!({"const": "point", "description": "A point"});
    let documented = shape(vec![json!({"enum": ["line"]}), point]);
    let text = "~/oneOf/1/description";
    check(&recorded, &documented, text, text);
    let more = shape(vec![
        json!({"const": "arc"}),
        json!({"enum": ["point", "line"]}),
    ]);
    check(&recorded, &more, "+/enum", "!/enum");
    check(&more, &recorded, "!/oneOf", "+/oneOf");
}

#[test]
fn closed_objects_with_members_of_their_own_exclude_each_other() {
    let variant = |name: &str, members: &[&str]| {
        let members = members.iter();
        let members = members.map(|name| ((*name).to_owned(), json!({"type": "number"})));
        let content = json!({"type": "object", "properties": members.collect::<Value>()});
        json!({
            "type": "object", "properties": {name: content}, "required": [name],
            "additionalProperties": false,
        })
    };
    let shapes = |variants: &[(&str, &[&str])]| {
        let variants = variants.iter();
        let variants = variants.map(|(name, members)| variant(name, members));
        json!({"oneOf": variants.collect::<Vec<_>>()})
    };
    let recorded = shapes(&[("circle", &["r"]), ("square", &["s"])]);
    let one = shapes(&[("circle", &["r", "x"]), ("square", &["s"])]);
    let circle = "/oneOf/0/properties/circle/properties/x";
    check(
        &recorded,
        &one,
        &format!("+{circle}"),
        &format!("+{circle}"),
    );
    let square = "/oneOf/1/properties/square/properties/x";
    let both = shapes(&[("circle", &["r", "x"]), ("square", &["s", "x"])]);
    let members = format!("+{circle} +{square}");
    check(&recorded, &both, &members, &members);
    let more = shapes(&[("circle", &["r"]), ("line", &["l"]), ("square", &["s"])]);
    check(&recorded, &more, "+/oneOf", "!/oneOf");
    check(&more, &recorded, "!/oneOf", "+/oneOf");
    // Without `additionalProperties: false`, a value can match both.
    let mut open = [recorded.clone(), more];
    for schema in &mut open {
        for branch in schema["oneOf"].as_array_mut().into_iter().flatten() {
            branch["additionalProperties"] = json!(true);
        }
    }
    check(&open[0], &open[1], "!/oneOf", "!/oneOf");
}
