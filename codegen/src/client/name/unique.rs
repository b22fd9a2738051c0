//! Unique names that keep their meaning when the server adds items.

use std::collections::HashMap;

use super::join_pascal;
use super::words::{code, letter_case, valid_words};

/// Names that an item can have, in order of preference.
pub(in crate::client) type Forms = Vec<String>;

/// Names of a member, a variable or a method: `user_id`, spelled out as `user_underscore_id`, with the case of its letters,
/// `user_underscore_id_lower`, and with a code of the original name.
pub(in crate::client) fn snake_forms(name: &str) -> Forms {
    forms(name).map(|words| words.join("_")).into()
}

/// Names of a variant: `Asc`, and as for [`snake_forms`].
pub(in crate::client) fn variant_forms(name: &str) -> Forms {
    let names = forms(name).map(|words| match join_pascal(&words) {
        // `Self` is not a valid name.
        name if name == "Self" => "ItSelf".to_owned(),
        name => name,
    });
    names.into()
}

fn forms(name: &str) -> [Vec<String>; 4] {
    let (plain, spelled) = (valid_words(name, false), valid_words(name, true));
    let with = |words: &[String], last: &str| [words, &[last.to_owned()]].concat();
    [
        plain.clone(),
        spelled.clone(),
        with(&spelled, letter_case(name)),
        with(&plain, &code(name)),
    ]
}

/// Chooses a name for each item: the first of its forms that is not reserved and that no other item could have.
///
/// Of several items that could have a name, none gets it. Otherwise, a new item could take the name of an existing one, and a
/// program that uses the name would still compile. If no form is left, the last one gets a number.
pub(in crate::client) fn unique(items: &[Forms], reserved: &[&str]) -> Vec<String> {
    // The item and the index of its form for each name, or `None` if nothing may have the name.
    let mut claims: HashMap<&str, Option<(usize, usize)>> = HashMap::new();
    claims.extend(reserved.iter().map(|name| (*name, None)));
    let mut chosen = vec![None; items.len()];
    let mut left = Vec::new();
    let mut open: Vec<_> = (0..items.len()).rev().map(|item| (item, 0)).collect();
    while let Some((item, form)) = open.pop() {
        let Some(name) = items[item].get(form) else {
            left.push(item);
            continue;
        };
        match claims.get_mut(name.as_str()) {
            None => {
                claims.insert(name, Some((item, form)));
                chosen[item] = Some(name.clone());
            }
            Some(other) => {
                if let Some((other, form)) = other.take() {
                    chosen[other] = None;
                    open.push((other, form + 1));
                }
                open.push((item, form + 1));
            }
        }
    }
    left.sort_unstable();
    let mut number = 2_u64;
    for item in left {
        let last = items[item].last().map_or("", String::as_str);
        chosen[item] = std::iter::repeat_with(|| {
            number += 1;
            format!("{last}{}", number - 1)
        })
        .find(|name| !claims.contains_key(name.as_str()));
    }
    chosen.into_iter().map(Option::unwrap_or_default).collect()
}
