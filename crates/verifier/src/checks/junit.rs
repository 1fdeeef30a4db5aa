//! JUnit reports, as far as a verdict needs them.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use crate::limits;

/// How one test case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseStatus {
    /// No failure, error or skip stands in it.
    Passed,
    /// A failure or an error.
    Failed,
    /// Skipped.
    Skipped,
}

/// One test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCase {
    /// `classname::name`, or the name alone where there is no class name.
    pub id: String,
    /// How it ended.
    pub status: CaseStatus,
}

/// Reads every `testcase` of a JUnit report. The counters of its suites are not believed.
///
/// # Errors
/// Why it cannot be read: not UTF-8, not XML, cut off, with a document type, without a name, or with too many cases.
pub fn parse_junit(bytes: &[u8]) -> Result<Vec<TestCase>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
    let mut reader = quick_xml::Reader::from_str(text);
    let mut cases: Vec<TestCase> = Vec::new();
    let (mut depth, mut case_depth, mut seen_root) = (0_usize, None, false);
    loop {
        let event = reader.read_event().map_err(|error| error.to_string())?;
        match &event {
            Event::DocType(_) => return Err("a document type is refused".into()),
            Event::Eof if depth == 0 && seen_root => return Ok(cases),
            Event::Eof => return Err("it ends before its root does".into()),
            Event::End(_) => {
                depth = depth.checked_sub(1).ok_or("an end without a start")?;
                case_depth = case_depth.filter(|open| *open < depth);
            }
            Event::Start(tag) | Event::Empty(tag) => {
                if depth == 0 && seen_root {
                    return Err("it has two roots".into());
                }
                seen_root = true;
                open(tag, &mut cases, &mut case_depth, depth)?;
                let empty = matches!(event, Event::Empty(_));
                case_depth = case_depth.filter(|open| !(empty && *open == depth));
                depth += usize::from(!empty);
                if depth > limits::TREE_DEPTH {
                    return Err("nested too deeply".into());
                }
            }
            _ => {}
        }
    }
}

fn open(tag: &BytesStart<'_>, cases: &mut Vec<TestCase>, case: &mut Option<usize>, depth: usize) -> Result<(), String> {
    match (tag.local_name().as_ref(), *case) {
        ("testcase", None) => {
            if cases.len() >= limits::REPORT_CASES {
                return Err(format!("more than {} test cases", limits::REPORT_CASES));
            }
            let (mut name, mut class) = (None, None);
            for attribute in tag.attributes() {
                // Reading all of them also finds one that stands twice.
                let attribute = attribute.map_err(|error| error.to_string())?;
                let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
                match attribute.key.as_ref() {
                    "name" => name = Some(value.into_owned()),
                    "classname" => class = Some(value.into_owned()),
                    _ => {}
                }
            }
            let name = name.ok_or("a test case without a name")?;
            let id = match class {
                Some(class) if !class.is_empty() => format!("{class}::{name}"),
                _ => name,
            };
            cases.push(TestCase { id, status: CaseStatus::Passed });
            *case = Some(depth);
        }
        ("testcase", Some(_)) => return Err("a test case inside a test case".into()),
        (word, Some(at)) if depth == at + 1 => {
            let status = match word {
                "failure" | "error" => CaseStatus::Failed,
                "skipped" => CaseStatus::Skipped,
                _ => return Ok(()),
            };
            if let Some(last) = cases.last_mut()
                && last.status != CaseStatus::Failed
            {
                last.status = status;
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_and_their_ends_are_read() {
        let report = br#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite tests="99" failures="0">
            <testcase classname="t.a" name="ok" time="0.1"/>
            <testcase classname="t.a" name="bad[&lt;1&gt;]"><failure message="x">boom</failure></testcase>
            <testcase classname="t.a" name="worse"><error/><skipped/></testcase>
            <testcase name="skip"><skipped type="pytest.skip"/></testcase>
            <testcase classname="t.a" name="talks"><system-out>&lt;failure/&gt;</system-out></testcase>
            </testsuite></testsuites>"#;
        let cases = parse_junit(report).unwrap();
        let rows: Vec<(&str, CaseStatus)> = cases.iter().map(|case| (case.id.as_str(), case.status)).collect();
        assert_eq!(
            rows,
            [
                ("t.a::ok", CaseStatus::Passed),
                ("t.a::bad[<1>]", CaseStatus::Failed),
                ("t.a::worse", CaseStatus::Failed),
                ("skip", CaseStatus::Skipped),
                ("t.a::talks", CaseStatus::Passed),
            ]
        );
    }

    #[test]
    fn what_has_no_single_reading_is_refused() {
        for (name, text) in [
            ("empty", ""),
            ("cut off", "<testsuite><testcase name='a'/>"),
            ("doctype", "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>"),
            ("foreign entity", "<testsuite><testcase name='&a;'/></testsuite>"),
            ("no name", "<testsuite><testcase/></testsuite>"),
            ("two roots", "<a/><b/>"),
            ("nested", "<a><testcase name='x'><testcase name='y'/></testcase></a>"),
            ("mismatch", "<a></b>"),
            ("twice named", "<a><testcase name='x' name='y'/></a>"),
            ("deep", &"<a>".repeat(1000)),
        ] {
            assert!(parse_junit(text.as_bytes()).is_err(), "{name}");
        }
        assert!(parse_junit(b"\xff").is_err());
    }
}
