//! Conversion of each type, and the errors for texts of another type.

use serde_json::json;
use treenail::schema::JsonObject;

use super::*;

fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "$defs": {"Unit": {"enum": ["celsius", "fahrenheit"]}},
        "properties": {
            "days": {"type": "integer"}, "share": {"type": "number"}, "dry": {"type": "boolean"},
            "city": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
            "ids": {"type": "array", "items": {"type": "integer"}}, "any": {}, "map": {"type": "object"},
            "pair": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": {"type": "boolean"}},
            "old": {"type": "array", "items": [{"type": "integer"}]},
            "unit": {"$ref": "#/$defs/Unit"},
            "size": {"oneOf": [{"const": "small", "description": "Two people"}, {"const": "large"}]}, "maybe": {"type": ["integer", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "or_null": {"type": ["string", "null"], "enum": ["x", null]}, "digits": {"type": ["integer", "string"], "enum": ["1", "2", 3]}},
    });
    let schema: JsonObject = serde_json::from_value(schema).unwrap();
    Tool::new("weather", schema)
}

#[test]
fn a_required_argument_with_a_default_is_not_missing() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}, "c": true},
        "required": ["a", "b", "c", "d"],
    });
    let schema: JsonObject = serde_json::from_value(schema).unwrap();
    let tool = Tool::new("add", schema);
    let given = Map::from_iter([("a".to_owned(), json!(1))]);
    let missing: Vec<_> = missing_arguments(&tool, &given).collect();
    assert_eq!(missing, ["c", "d"]);
}

fn check(typed: &[&str], expected: Result<Value, &str>) {
    let given: Vec<RawArgument> = typed.iter().map(|it| it.parse().unwrap()).collect();
    let name = given[0].name().unwrap().to_owned();
    let given: Vec<_> = given.iter().collect();
    let value = convert_argument(&tool(), &name, &given, &|_| false);
    assert_eq!(value, expected.map_err(str::to_owned), "{typed:?}");
}

#[test]
fn text_is_converted_by_the_schema() {
    check(&["days=3"], Ok(json!(3)));
    check(&["days=18446744073709551615"], Ok(json!(u64::MAX)));
    check(&["share=0.5"], Ok(json!(0.5)));
    check(&["share=2"], Ok(json!(2)));
    check(&["dry=false"], Ok(json!(false)));
    check(&["city=3"], Ok(json!("3")));
    check(&["tags=a", "tags=b,c"], Ok(json!(["a", "b,c"])));
    check(&["ids=1"], Ok(json!([1])));
    check(
        &["pair=1", "pair=2", "pair=true"],
        Ok(json!([1, "2", true])),
    );
    check(&["old=1", "old=2"], Ok(json!([1, "2"])));
    check(&["any=1"], Ok(json!("1")));
    check(&["any:=1"], Ok(json!(1)));
    check(&["map={\"a\":1}"], Ok(json!({"a": 1})));
    check(&["unit=celsius"], Ok(json!("celsius")));
    check(&["size=large"], Ok(json!("large")));
    check(&["maybe=null"], Ok(Value::Null));
    check(&["or_null=null"], Ok(Value::Null));
    check(&["digits=1"], Ok(json!("1")));
    check(&["digits=3"], Ok(json!(3)));
    check(&["either=7"], Ok(json!(7)));
    check(&["either=seven"], Ok(json!("seven")));
    check(
        &["days:=\"passed unchanged\""],
        Ok(json!("passed unchanged")),
    );
}

#[test]
fn errors_name_the_expected_type() {
    check(
        &["days=three"],
        Err("`days`: expected an integer, got `three`"),
    );
    check(&["days=1.5"], Err("`days`: expected an integer, got `1.5`"));
    check(
        &["dry=maybe"],
        Err("`dry`: expected a boolean, got `maybe`"),
    );
    check(
        &["map=x"],
        Err("`map`: expected an object, got `x`; to pass JSON, use `map:=…`"),
    );
    check(
        &["ids=1", "ids=x"],
        Err("`ids`: expected an integer, got `x`"),
    );
    check(
        &["city=a", "city=b"],
        Err("`city` was given more than once but is not a list"),
    );
    check(
        &["ids=1", "ids:=[2]"],
        Err("`ids` was given more than once; a JSON value cannot be combined with others"),
    );
    check(
        &["unit=celcius"],
        Err("`unit`: expected one of celsius, fahrenheit, got `celcius`; did you mean `celsius`?"),
    );
    check(
        &["citty=Oslo"],
        Err("unknown argument `citty`; did you mean `city`?"),
    );
    check(&["zzz=1"], Err("unknown argument `zzz`"));
}

#[test]
fn conditions_and_patterns_declare_arguments() {
    let schema = json!({
        "type": "object",
        "$defs": {"B": {"properties": {"b": {"type": "boolean"}}}},
        "oneOf": [{"$ref": "#"}, {"properties": {"a": {"type": "integer"}}}, {"$ref": "#/$defs/B"}],
        "allOf": [{"if": {"required": ["a"]}, "then": {"properties": {"c": {"type": "integer"}}}}],
        "dependentSchemas": {"a": {"properties": {"d": {"type": "integer"}}}},
    });
    let tool_of = |schema| Tool::new("t", serde_json::from_value::<JsonObject>(schema).unwrap());
    let convert = |tool: &Tool, name: &str, text: &str| {
        let given: RawArgument = format!("{name}={text}").parse().unwrap();
        convert_argument(tool, name, &[&given], &|_| false)
    };
    let tool = tool_of(schema);
    assert!(has_parts(&tool.input_schema));
    for (name, text, expected) in [
        ("a", "1", json!(1)),
        ("b", "true", json!(true)),
        ("c", "2", json!(2)),
        ("d", "3", json!(3)),
    ] {
        assert_eq!(convert(&tool, name, text), Ok(expected), "{name}");
    }
    assert_eq!(
        convert(&tool, "e", "1"),
        Err("unknown argument `e`".to_owned())
    );
    let last_of = |mut parts: Vec<Value>| {
        parts.push(json!({"properties": {"last": {"type": "integer"}}}));
        convert(
            &tool_of(json!({"type": "object", "allOf": parts})),
            "last",
            "1",
        )
    };
    assert_eq!(last_of(vec![json!({"$ref": "#"}); 9]), Ok(json!(1)));
    // The search is bounded, whatever the parts are.
    for part in [json!({"$ref": "#"}), json!(true)] {
        let unknown = Err("unknown argument `last`".to_owned());
        assert_eq!(last_of(vec![part; MAX_PARTS]), unknown);
    }
    let patterns = |patterns| tool_of(json!({"type": "object", "patternProperties": patterns}));
    let one = patterns(json!({"^x-": {"type": "integer"}}));
    assert_eq!(convert(&one, "x-a", "1"), Ok(json!(1)));
    let two = patterns(json!({"^x-": {"type": "integer"}, "^y-": {"type": "string"}}));
    assert_eq!(convert(&two, "y-a", "1"), Ok(json!("1")));
}
