//! One edit of one file.

/// `text` with the one hunk of `diff` in place; why not, when the file is not what the diff was made of.
pub(super) fn apply(text: &str, diff: &str) -> Result<String, String> {
    let mut hunks = diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@ "));
    let head = hunks.next().ok_or("no hunk")?;
    let start = head.strip_prefix("@@ -").and_then(|rest| rest.split([',', ' ']).next());
    let start: usize = start.and_then(|number| number.parse().ok()).ok_or_else(|| format!("`{head}`"))?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut at = start.saturating_sub(1);
    let mut out: String = lines.iter().take(at).copied().collect();
    for line in hunks {
        let (sign, rest) = line.split_at_checked(1).ok_or("an empty line in a hunk")?;
        match sign {
            "+" => out.push_str(rest),
            " " | "-" => {
                if lines.get(at).map(|line| line.trim_end()) != Some(rest.trim_end()) {
                    return Err(format!("line {} is not `{}`", at + 1, rest.trim_end()));
                }
                if sign == " " {
                    out.push_str(rest);
                }
                at += 1;
            }
            "@" => return Err("two hunks".to_owned()),
            // `\ No newline at end of file`
            _ => {}
        }
    }
    out.extend(lines.iter().skip(at).copied());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a.rs\n+++ replace two with 2\n@@ -2,3 +2,4 @@\n one\n-two\n+2\n+too\n three\n";

    #[test]
    fn the_hunk_is_put_in_its_place() {
        assert_eq!(apply("zero\none\ntwo\nthree\nfour\n", DIFF).unwrap(), "zero\none\n2\ntoo\nthree\nfour\n");
    }

    #[test]
    fn another_text_is_refused() {
        for text in ["one\ntwo\nthree\nfour\n", "zero\none\ntwo\n", ""] {
            assert!(apply(text, DIFF).is_err(), "{text:?}");
        }
        assert!(apply("one\n", "no diff").is_err());
        assert!(apply("zero\none\ntwo\nthree\n", &format!("{DIFF}@@ -4,1 +5,1 @@\n-four\n+4\n")).is_err());
    }
}
