//! The path patterns of WorkUnits, as the design fixes them.
//!
//! A trailing `/` is a subtree; a pattern without a wildcard is that one file; `*` stays within a segment; a segment `**`
//! is any depth. Bytes are compared, case matters, and nothing else is special.

/// Whether `pattern` covers `path` (relative, `/` between segments).
#[must_use]
pub fn matches(pattern: &str, path: &str) -> bool {
    let mut segments: Vec<&[u8]> = pattern.as_bytes().split(|byte| *byte == b'/').collect();
    if pattern.ends_with('/') {
        segments.pop();
        segments.push(b"**");
    }
    let path: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
    segments_match(&segments, &path)
}

/// Whether a forbidden pattern covers `path`: like [`matches()`], and a subtree also covers its own root, so that no file or
/// symlink can take the place of a forbidden directory.
#[must_use]
pub fn forbids(pattern: &str, path: &str) -> bool {
    matches(pattern, path)
        || pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix('/')).is_some_and(|root| matches(root, path))
}

/// Whether `pattern` can cover a path below `folder`, whatever that path is: what stands at `folder` decides which files
/// are reached through it. Every segment of `folder` is matched; a `**` matches any.
#[must_use]
pub fn reaches_below(pattern: &str, folder: &str) -> bool {
    let mut pattern = pattern.split('/').peekable();
    for name in folder.split('/') {
        match pattern.next() {
            Some("**") => return true,
            // A subtree's trailing `/`, or the pattern's last name: it ends above `folder` or at it.
            Some("") | None => return true,
            Some(_) if pattern.peek().is_none() => return false,
            Some(segment) if segment_matches(segment.as_bytes(), name.as_bytes()) => {}
            Some(_) => return false,
        }
    }
    true
}

// Both matchers keep one restart point, so that a hostile pattern costs the product of the lengths and no more.
fn segments_match(pattern: &[&[u8]], path: &[&[u8]]) -> bool {
    let (mut at, mut seen, mut restart) = (0, 0, None);
    loop {
        match pattern.get(at) {
            Some(&b"**") => {
                restart = Some((at + 1, seen));
                at += 1;
                // `dir/**` covers what is below `dir`, not `dir` itself, so a final `**` takes at least one segment.
                if at == pattern.len() {
                    return seen < path.len();
                }
            }
            Some(segment) if seen < path.len() && segment_matches(segment, path[seen]) => {
                at += 1;
                seen += 1;
            }
            None if seen == path.len() => return true,
            _ => {
                let Some((again, from)) = restart else { return false };
                if from >= path.len() {
                    return false;
                }
                restart = Some((again, from + 1));
                (at, seen) = (again, from + 1);
            }
        }
    }
}

fn segment_matches(pattern: &[u8], segment: &[u8]) -> bool {
    let (mut at, mut seen, mut restart) = (0, 0, None);
    while seen < segment.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                restart = Some((at, seen));
            }
            Some(byte) if *byte == segment[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((again, from)) = restart else { return false };
                restart = Some((again, from + 1));
                (at, seen) = (again, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{forbids, matches, reaches_below};

    #[test]
    fn a_pattern_reaches_below_the_folders_on_its_way() {
        for (pattern, folder, expected) in [
            (".github/workflows/", ".github", true),
            (".github/workflows/", ".github/workflows", true),
            (".github/workflows/", ".github/workflows/deep", true),
            (".github/workflows/", ".githubx", false),
            (".github/workflows/", ".github/actions", false),
            ("conf/secret.json", "conf", true),
            ("conf/secret.json", "conf/secret.json", false),
            ("conf/secret.json", "other", false),
            ("secret.json", "secret.json", false),
            ("*/secret", "any", true),
            ("a*/secret", "b", false),
            ("**/secret", "any/where", true),
            ("src/**/secret", "src/a", true),
            ("src/**/secret", "lib", false),
            ("src/**", "src", true),
        ] {
            assert_eq!(reaches_below(pattern, folder), expected, "{pattern} below {folder}");
        }
    }

    #[test]
    fn scope_globs_follow_design_section_7() {
        for (pattern, path, expected) in [
            ("src/", "src/a.rs", true),
            ("src/", "src/a/b.rs", true),
            ("src/", "src", false),
            ("src/", "srcs/a.rs", false),
            ("src", "src", true),
            ("src", "src/a.rs", false),
            ("README.md", "README.md", true),
            ("README.md", "readme.md", false),
            ("README.md", "docs/README.md", false),
            ("**", "a", true),
            ("**", "a/b/c", true),
            (".github/**", ".github/workflows/ci.yml", true),
            (".github/**", ".github", false),
            (".github/**", ".githubx/a", false),
            ("*.md", "a.md", true),
            ("*.md", "docs/a.md", false),
            ("**/*.md", "a.md", true),
            ("**/*.md", "docs/deep/a.md", true),
            ("docs/*/a.md", "docs/x/a.md", true),
            ("docs/*/a.md", "docs/x/y/a.md", false),
            ("docs/**/a.md", "docs/a.md", true),
            ("docs/**/a.md", "docs/x/y/a.md", true),
            ("docs/**/a.md", "docs/x/y/b.md", false),
            ("**/**/a", "a", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("*", "a", true),
            ("*", "a/b", false),
            ("*/", "a/b", true),
            ("*/", "a", false),
            ("a?c", "abc", false),
            ("a?c", "a?c", true),
            ("[ab]", "a", false),
            ("", "a", false),
            ("/", "a", false),
            ("dir/**", "dir/ä/ö", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "`{pattern}` on `{path}`");
        }
    }

    #[test]
    fn a_forbidden_subtree_covers_its_own_root() {
        for pattern in ["secret/", "secret/**"] {
            assert!(forbids(pattern, "secret"));
            assert!(forbids(pattern, "secret/a"));
            assert!(!forbids(pattern, "secrets"));
        }
        assert!(!forbids("secret", "secret/a"));
    }

    #[test]
    fn hostile_patterns_stay_cheap() {
        let pattern = "*a".repeat(2_000);
        assert!(!matches(&pattern, &"a".repeat(1_000)));
        let deep = "**/".repeat(500) + "x";
        assert!(!matches(&deep, &vec!["a"; 500].join("/")));
    }
}
