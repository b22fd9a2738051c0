//! Display of a change.

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// Returns the change between two texts as a unified diff with one hunk, or an empty text if they are equal.
pub(super) fn diff(old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(old, new)| old == new).count()
    };
    let start = same(&mut old.iter().zip(&new));
    let rest = old.len().min(new.len()) - start;
    let end = same(&mut old.iter().rev().zip(new.iter().rev())).min(rest);
    let first = start.saturating_sub(CONTEXT);
    let after = end.min(CONTEXT);
    let header = |lines: &[&str]| {
        let count = lines.len() - end + after - first;
        format!("{},{count}", if count == 0 { first } else { first + 1 })
    };
    let mut output = vec![format!("@@ -{} +{} @@", header(&old), header(&new))];
    let mut add = |sign: char, lines: &[&str]| {
        output.extend(lines.iter().map(|line| format!("{sign}{line}")));
    };
    add(' ', &old[first..start]);
    add('-', &old[start..old.len() - end]);
    add('+', &new[start..new.len() - end]);
    add(' ', &old[old.len() - end..old.len() - end + after]);
    output.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_context_and_positions() {
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b");
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let new = "1\n2\n3\n4\nx\ny\n6\n7\n8\n";
        assert_eq!(
            diff(old, new),
            "@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+x\n+y\n 6\n 7\n 8"
        );
        assert_eq!(diff("a\na\n", "a\na\na\n"), "@@ -1,2 +1,3 @@\n a\n a\n+a");
    }
}
