//! Tests of the limit on the size of a result.

use fastrand::Rng;
use serde_json::json;
use treenail_schema::{CallToolResult, ContentBlock};

use super::{result, texts};
use crate::results::{for_model, media_bytes};
use crate::{ModelCapabilities, ToolLoopLimits};

#[test]
fn truncation_is_marked() {
    let long = "é".repeat(100_000);
    let given = result(json!({"content": [
        {"type": "text", "text": "short"}, {"type": "text", "text": long}, {"type": "text", "text": "short too"},
    ]}));
    let limits = ToolLoopLimits::default().result_bytes(4096);
    let blocks = for_model(&given, ModelCapabilities::default(), &limits);
    let texts = texts(&blocks);
    assert_eq!((texts[0], texts[2]), ("short", "short too"));
    assert!(
        texts[1].starts_with("éé") && texts[1].ends_with("éé"),
        "{}",
        texts[1]
    );
    assert!(
        texts[1].contains("\n[… 191.3 KiB of 195.3 KiB omitted …]\n"),
        "{}",
        texts[1]
    );
    assert!(
        (3900..=4096).contains(&bytes(&blocks)),
        "{}",
        bytes(&blocks)
    );

    let many: Vec<_> = (0..100_000)
        .map(|at| ContentBlock::text(at.to_string()))
        .collect();
    let blocks = for_model(
        &CallToolResult::new(many),
        ModelCapabilities::default(),
        &limits.result_bytes(1 << 20),
    );
    assert_eq!(blocks.len(), 1001);
    let last = blocks[1000].as_text();
    assert_eq!(last, Some("[99000 more parts of the result are omitted]"));
}

fn bytes(blocks: &[ContentBlock]) -> usize {
    let texts = blocks.iter().filter_map(ContentBlock::as_text);
    texts.map(str::len).sum()
}

#[test]
fn results_fit_the_limit_and_short_ones_are_unchanged() {
    let media = |blocks: &[_]| -> usize { blocks.iter().map(media_bytes).sum() };
    let mut random = Rng::with_seed(7);
    for _ in 0..2_000 {
        let count = random.usize(..12);
        let content: Vec<_> = (0..count)
            .map(|_| {
                let longest = [4, 40, 400, 4000][random.usize(..4)];
                let length = random.usize(..longest);
                let text: String = (0..length).map(|_| random.char('a'..)).collect();
                match random.u8(..4) {
                    0 => ContentBlock::image("QUJD".repeat(length / 4 + 1), "image/png"),
                    _ => ContentBlock::text(text),
                }
            })
            .collect();
        let given = CallToolResult::new(content.clone());
        let capabilities = ModelCapabilities::default().images(true);
        let (max, max_media) = (random.usize(..10_000), random.usize(..10_000));
        let limits = ToolLoopLimits::default().result_bytes(max);
        let limits = limits.media_bytes(max_media);
        let blocks = for_model(&given, capabilities, &limits);
        assert!(
            bytes(&blocks) <= max.max(256) && media(&blocks) <= max_media,
            "{} of {max}: {blocks:?}",
            bytes(&blocks)
        );
        if count > 0 && bytes(&content) <= max && media(&content) <= max_media {
            assert_eq!(blocks, content);
        }
    }
}
