//! Tools that a sentence announces to call: "I will use the clock tool".
//!
//! False negatives are preferred: a sentence counts only if it starts like an announcement and contains no
//! disqualifying word. A sentence without a stated intention ("Using the clock tool") has to be short or continue with
//! a purpose.

/// Words that may precede an announcement.
const FILLERS: [&str; 14] = [
    "ok",
    "okay",
    "sure",
    "certainly",
    "alright",
    "great",
    "well",
    "now",
    "first",
    "next",
    "then",
    "so",
    "yes",
    "also",
];

/// Phrases that state an intention.
const INTENTS: [&[&str]; 9] = [
    &["i", "will"],
    &["i'll"],
    &["i", "shall"],
    &["i", "am", "going", "to"],
    &["i'm", "going", "to"],
    &["let", "me"],
    &["let's"],
    &["i", "need", "to"],
    &["i", "must"],
];

const ADVERBS: [&str; 7] = ["now", "first", "then", "just", "simply", "quickly", "also"];

const VERBS: [&str; 8] = [
    "use", "call", "run", "invoke", "using", "calling", "running", "invoking",
];

/// Verbs that turn a sentence into a statement: "Using the clock tool for this is forbidden."
const STATEMENT_VERBS: [&str; 12] = [
    "is", "are", "was", "were", "be", "will", "has", "had", "must", "needs", "requires", "seems",
];

/// Words that may negate, postpone or delegate a call.
const DISQUALIFYING_WORDS: [&str; 48] = [
    "not",
    "no",
    "never",
    "nor",
    "none",
    "neither",
    "cannot",
    "without",
    "instead",
    "rather",
    "unless",
    "if",
    "whether",
    "when",
    "whenever",
    "once",
    "after",
    "before",
    "until",
    "later",
    "could",
    "would",
    "should",
    "might",
    "may",
    "can",
    "perhaps",
    "maybe",
    "possibly",
    "probably",
    "but",
    "or",
    "either",
    "you",
    "your",
    "yourself",
    "yourselves",
    "user",
    "users",
    "avoid",
    "stop",
    "except",
    "already",
    "example",
    "instance",
    "would've",
    "however",
    "though",
];

/// Returns the tool name that a sentence announces, known or not.
pub(super) fn announced_tool(sentence: &str) -> Option<&str> {
    let trimmed = sentence.trim();
    if trimmed.contains('?') {
        return None;
    }
    let words: Vec<&str> = trimmed.split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| normalized(word)).collect();
    let is_doubt =
        |word: &String| DISQUALIFYING_WORDS.contains(&word.as_str()) || word.ends_with("n't");
    if lower.iter().any(is_doubt) {
        return None;
    }
    let mut at = skip_words(&lower, 0, &FILLERS);
    let intent = intent_at(&lower, at);
    at += intent.map_or(0, <[_]>::len);
    at = skip_words(&lower, at, &ADVERBS);
    if !VERBS.contains(&lower.get(at)?.as_str()) {
        return None;
    }
    at += 1;
    at = skip_words(&lower, at, &["the", "my"]);
    let name = words
        .get(at)?
        .trim_matches(['*', ',', '!', ';'])
        .trim_end_matches(['.', ':']);
    let is_called_tool = lower.get(at + 1).is_some_and(|word| word == "tool");
    if intent.is_none() && !is_action(lower.get(at + 2..).unwrap_or_default()) {
        return None;
    }
    // A name that may be an ordinary word is not sufficient on its own.
    let is_name = name.contains(['_', '-', '.']) && intent.is_some();
    (is_called_tool || is_name).then_some(name)
}

/// Returns a word in lower case, without the punctuation around it.
fn normalized(word: &str) -> String {
    word.trim_matches([',', '.', '!', '*', ';', ':'])
        .replace('’', "'")
        .to_ascii_lowercase()
}

/// Returns the phrase that states an intention at this position.
fn intent_at(words: &[String], at: usize) -> Option<&'static [&'static str]> {
    let begins_with = |intent: &[&str]| {
        let begin = words.get(at..at + intent.len());
        begin.is_some_and(|words| {
            words
                .iter()
                .zip(intent)
                .all(|(word, wanted)| word == wanted)
        })
    };
    INTENTS.into_iter().find(|intent| begins_with(intent))
}

/// Returns true if a sentence without a stated intention is not a statement, judging by the words after the tool.
fn is_action(rest: &[String]) -> bool {
    let goes_on = rest.first().map(String::as_str);
    matches!(goes_on, None | Some("to" | "for"))
        && !rest
            .iter()
            .any(|word| STATEMENT_VERBS.contains(&word.as_str()))
}

/// Returns the first position from `at` on that has none of these words.
fn skip_words(words: &[String], at: usize, skipped: &[&str]) -> usize {
    let rest = words.iter().skip(at);
    at + rest
        .take_while(|word| skipped.contains(&word.as_str()))
        .count()
}
