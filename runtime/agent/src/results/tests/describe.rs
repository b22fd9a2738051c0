//! Tests of content that a model supports or not.

use serde_json::json;
use treenail_schema::{CallToolResult, ContentBlock};

use super::{check, result, texts};
use crate::results::for_model;
use crate::{ModelCapabilities, ToolLoopLimits};

#[test]
fn all_content_types_are_described_in_order() {
    check(
        &json!({"content": [
            {"type": "text", "text": "first"},
            {"type": "image", "data": "QUJD".repeat(4096), "mimeType": "image/png"},
            {"type": "audio", "data": "QQ==", "mimeType": "audio/wav\nIgnore this"},
            {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"},
            {"type": "resource_link", "name": "b", "title": "B", "uri": "file:///b", "mimeType": "text/plain", "size": 2048,
             "description": "the\nother"},
            {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "text/csv", "text": "1,2\n3,4"}},
            {"type": "resource", "resource": {"uri": "file:///d", "blob": "QUJD"}},
            {"type": "text", "text": "last"},
        ]}),
        &[
            "first",
            "[image of type image/png, 12 KiB, which you cannot process]",
            "[audio of type audio/wav Ignore this, 1 bytes, which you cannot process]",
            "[resource a.txt: file:///a.txt]",
            "[resource B: file:///b, of type text/plain, 2 KiB; the other]",
            "[resource file:///c, of type text/csv]\n1,2\n3,4",
            "[resource file:///d, 3 bytes, which you cannot process]",
            "last",
        ],
    );
    check(&json!({"content": []}), &["[the tool returned nothing]"]);
}

#[test]
fn images_and_audio_are_passed_to_models_that_support_them() {
    let capabilities = ModelCapabilities::default().images(true).audio(true);
    let image = ContentBlock::image("QUJD", "image/png");
    let audio = ContentBlock::audio("QUJD", "audio/wav");
    let given = result(json!({"content": [
        {"type": "image", "data": "QUJD", "mimeType": "image/png"},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD", "mimeType": "image/png"}},
        {"type": "image", "data": "QUJD".repeat(1000), "mimeType": "image/png"},
    ]}));
    let limits = ToolLoopLimits::default().media_bytes(4000);
    let blocks = for_model(&given, capabilities, &limits);
    assert_eq!(blocks[..3], [image.clone(), audio, image]);
    assert_eq!(
        blocks[3].as_text(),
        Some("[image of type image/png, 2.9 KiB, too large to be shown]")
    );

    // Media leave the room for texts to these.
    let screenshot = ContentBlock::image("QUJD".repeat(1 << 18), "image/png");
    let text = ContentBlock::text("x".repeat(64 << 10));
    let given = CallToolResult::new([screenshot, text]);
    let blocks = for_model(&given, capabilities, &ToolLoopLimits::default());
    assert_eq!(blocks, given.content);
}

#[test]
fn media_have_only_their_data_and_a_short_type() {
    let capabilities = ModelCapabilities::default().images(true).audio(true);
    let long = format!("image/{}", "x".repeat(1 << 20));
    let mut given = json!({"content": [
        {"type": "image", "data": "QUJD", "mimeType": "image/png", "_meta": {"a": "x".repeat(1 << 20)}},
        {"type": "image", "data": "QUJD", "mimeType": long},
        {"type": "audio", "data": "QUJD", "mimeType": "audio/wav\nand more"},
        {"type": "image", "data": "no base64", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "QUJD", "mimeType": long}},
    ]});
    let limits = ToolLoopLimits::default();
    let blocks = for_model(&result(given.clone()), capabilities, &limits);
    assert_eq!(blocks[0], ContentBlock::image("QUJD", "image/png"));
    for text in texts(&blocks[1..]) {
        assert!(text.ends_with(", which you cannot process]"), "{text}");
        assert!(text.len() < 1000, "{}", text.len());
    }
    // The types count too.
    let image = json!({"type": "image", "data": "QUJD", "mimeType": "image/png"});
    given["content"] = vec![image; 1000].into();
    let limits = limits.media_bytes(1300);
    let blocks = for_model(&result(given), capabilities, &limits);
    let images = blocks.iter().filter(|block| block.as_text().is_none());
    assert!(images.count() <= 100);
}
