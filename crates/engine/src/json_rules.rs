//! The shipped engine: checks a JSON document against a file of rules.
//!
//! A rules file is `{"schema": "quorum-json-rules/1.0", "rules": [...], "ignore": [...]}`. A rule names a place by JSON
//! Pointer and one or more demands on it:
//!
//! ```json
//! {"id": "answer", "at": "/answer", "equals": 42}
//! {"id": "status", "at": "/status", "one_of": ["ready", "done"]}
//! {"id": "score", "at": "/score", "type": "number", "minimum": 0, "maximum": 1}
//! {"id": "items", "at": "/items", "min_length": 1, "max_length": 10}
//! {"id": "no-flag", "at": "/accepted", "absent": true}
//! ```
//!
//! `equals` and `one_of` compare canonical bytes: 42 is not 42.0. A top-level member that no rule and no `ignore` names
//! was not examined: the coverage is then incomplete, and a clean result is no pass. Findings exit 0; 1 is a file that
//! cannot be read, 2 a usage error or a rules file that cannot be used. No rules at all is 2: such a run examines
//! nothing.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use quorum_schemas::{Object, Value, c1, counted, parse_with};

use crate::limits;

/// Version of the engine, `--version`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What `--describe` prints.
pub const DESCRIPTOR: &str = include_str!("json_rules_descriptor.json");
const RULES_SCHEMA: &str = "quorum-json-rules/1.0";
const USAGE: &str = "usage: check CANDIDATE --rules RULES [--json] | --describe | --version";

/// Why the engine gives no result.
enum Trouble {
    Usage(String),
    File(String),
}

/// Runs the engine with the arguments after its name; returns the exit status.
pub fn main(args: &[String], stdout: &mut dyn Write, stderr: &mut dyn Write) -> i32 {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["--describe", ..] => stdout.write_all(DESCRIPTOR.as_bytes()).map(|()| 0),
        ["--version", ..] => writeln!(stdout, "quorum-json-rules {VERSION}").map(|()| 0),
        ["check", rest @ ..] => check_command(rest, stdout, stderr),
        _ => writeln!(stderr, "{USAGE}").map(|()| 2),
    };
    done.unwrap_or(1)
}

fn check_command(words: &[&str], stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<i32> {
    match check_files(words) {
        Ok((outcome, json)) => {
            if json {
                stdout.write_all(&c1(&outcome.to_value()))?;
                stdout.write_all(b"\n")?;
            } else {
                writeln!(stdout, "{}", outcome.summary())?;
                for violation in &outcome.violations {
                    writeln!(stdout, "{}: {}", violation.rule, violation.message)?;
                }
            }
            stdout.flush()?;
            Ok(0)
        }
        Err(Trouble::Usage(message)) => writeln!(stderr, "error: {message}").map(|()| 2),
        Err(Trouble::File(message)) => writeln!(stderr, "error: {message}").map(|()| 1),
    }
}

fn check_files(words: &[&str]) -> Result<(Outcome, bool), Trouble> {
    let (mut candidate, mut rules, mut json) = (None, None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--json" => json = true,
            "--rules" => rules = words.next().copied(),
            option if option.starts_with('-') => {
                return Err(Trouble::Usage(format!("unknown option {option}; {USAGE}")));
            }
            path if candidate.is_none() => candidate = Some(path),
            _ => return Err(Trouble::Usage(USAGE.to_owned())),
        }
    }
    let (Some(candidate), Some(rules)) = (candidate, rules) else {
        return Err(Trouble::Usage(USAGE.to_owned()));
    };
    let rules = Rules::parse(&read(rules)?).map_err(|why| Trouble::Usage(format!("{rules}: {why}")))?;
    Ok((check(&read(candidate)?, &rules), json))
}

fn read(path: &str) -> Result<Vec<u8>, Trouble> {
    let trouble = |why: String| Trouble::File(format!("{path}: {why}"));
    let found = Path::new(path).metadata().map_err(|error| trouble(error.to_string()))?;
    if !found.is_file() || found.len() > limits::RULES_DOCUMENT.bytes as u64 {
        return Err(trouble("is no regular file, or is too large".to_owned()));
    }
    fs::read(path).map_err(|error| trouble(error.to_string()))
}

/// A usable rules file.
struct Rules {
    rules: Vec<Rule>,
    ignore: Vec<String>,
}

struct Rule {
    id: String,
    at: String,
    demands: Vec<Demand>,
}

enum Demand {
    Equals(Value),
    OneOf(Vec<Value>),
    Type(String),
    Minimum(f64),
    Maximum(f64),
    MinLength(usize),
    MaxLength(usize),
    Absent,
}

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

impl Rules {
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let value = parse_with(bytes, limits::RULES_DOCUMENT).map_err(|error| error.to_string())?;
        let members = value.as_object().ok_or("is no object")?;
        if let Some(unknown) = members.keys().find(|key| !["schema", "rules", "ignore"].contains(&key.as_str())) {
            return Err(format!("unknown key `{unknown}`"));
        }
        if value.get("schema").and_then(Value::as_str) != Some(RULES_SCHEMA) {
            return Err(format!("`schema` must be \"{RULES_SCHEMA}\""));
        }
        let entries = value.get("rules").and_then(Value::as_array).ok_or("`rules` must be an array")?;
        if entries.is_empty() {
            return Err("`rules` is empty: such a run would examine nothing".to_owned());
        }
        let rules: Vec<Rule> = entries.iter().map(Rule::parse).collect::<Result<_, _>>()?;
        for (index, rule) in rules.iter().enumerate() {
            if rules[..index].iter().any(|earlier| earlier.id == rule.id) {
                return Err(format!("two rules are called `{}`", rule.id));
            }
        }
        let ignore = value.get("ignore").map_or(Some(&[][..]), Value::as_array).ok_or("`ignore` must be an array")?;
        let ignore: Option<Vec<String>> = ignore.iter().map(|entry| pointer(entry).map(str::to_owned)).collect();
        Ok(Self { rules, ignore: ignore.ok_or("`ignore` must hold JSON Pointers")? })
    }
}

fn pointer(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| text.is_empty() || text.starts_with('/'))
}

impl Rule {
    fn parse(value: &Value) -> Result<Self, String> {
        let members = value.as_object().ok_or("a rule is no object")?;
        let id = value.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).ok_or("a rule has no `id`")?;
        let wrong = |why: &str| format!("rule `{id}`: {why}");
        let at = value.get("at").and_then(pointer).ok_or_else(|| wrong("`at` must be a JSON Pointer"))?;
        let demands: Vec<Demand> = members
            .iter()
            .filter(|(key, _)| !["id", "at"].contains(&key.as_str()))
            .map(|(key, operand)| Demand::parse(key, operand).map_err(|why| wrong(&why)))
            .collect::<Result<_, _>>()?;
        if demands.is_empty() {
            return Err(wrong("demands nothing"));
        }
        if demands.len() > 1 && demands.iter().any(|demand| matches!(demand, Demand::Absent)) {
            return Err(wrong("`absent` stands alone"));
        }
        Ok(Self { id: id.to_owned(), at: at.to_owned(), demands })
    }

    fn violation(&self, document: &Value) -> Option<Violation> {
        let found = document.pointer(&self.at);
        self.demands.iter().find_map(|demand| {
            let why = demand.unmet(found)?;
            Some(Violation {
                rule: self.id.clone(),
                at: self.at.clone(),
                message: format!("{} {why}", if self.at.is_empty() { "the document" } else { &self.at }),
            })
        })
    }
}

impl Demand {
    fn parse(key: &str, operand: &Value) -> Result<Self, String> {
        let number = || number(operand).ok_or_else(|| format!("`{key}` must be a number"));
        let length = || {
            let length = operand.as_u64().and_then(|length| usize::try_from(length).ok());
            length.ok_or_else(|| format!("`{key}` must be a whole number"))
        };
        match key {
            "equals" => Ok(Self::Equals(operand.clone())),
            "one_of" => match operand.as_array() {
                Some(items) if !items.is_empty() => Ok(Self::OneOf(items.to_vec())),
                _ => Err("`one_of` must be an array that is not empty".to_owned()),
            },
            "type" => match operand.as_str().filter(|word| TYPES.contains(word)) {
                Some(word) => Ok(Self::Type(word.to_owned())),
                None => Err(format!("`type` must be one of {}", TYPES.join(", "))),
            },
            "minimum" => number().map(Self::Minimum),
            "maximum" => number().map(Self::Maximum),
            "min_length" => length().map(Self::MinLength),
            "max_length" => length().map(Self::MaxLength),
            "absent" if *operand == Value::Bool(true) => Ok(Self::Absent),
            "absent" => Err("`absent` takes only true".to_owned()),
            _ => Err(format!("unknown demand `{key}`")),
        }
    }

    /// What is wrong with the value, if anything.
    fn unmet(&self, found: Option<&Value>) -> Option<String> {
        let Some(found) = found else {
            return (!matches!(self, Self::Absent)).then(|| "is missing".to_owned());
        };
        let shown = found.shown();
        let (met, wanted) = match self {
            Self::Absent => (false, "be absent".to_owned()),
            Self::Equals(wanted) => (c1(wanted) == c1(found), format!("equal {}", wanted.shown())),
            Self::OneOf(wanted) => {
                let met = wanted.iter().any(|wanted| c1(wanted) == c1(found));
                (met, format!("be one of {}", Value::Array(wanted.clone()).shown()))
            }
            Self::Type(wanted) => {
                let met = found.kind() == wanted || (wanted == "number" && found.kind() == "integer");
                (met, format!("be of type {wanted}"))
            }
            Self::Minimum(bound) => (number(found).is_some_and(|n| n >= *bound), format!("be a number >= {bound}")),
            Self::Maximum(bound) => (number(found).is_some_and(|n| n <= *bound), format!("be a number <= {bound}")),
            Self::MinLength(bound) => (length(found).is_some_and(|n| n >= *bound), format!("have length >= {bound}")),
            Self::MaxLength(bound) => (length(found).is_some_and(|n| n <= *bound), format!("have length <= {bound}")),
        };
        (!met).then(|| format!("must {wanted}, is {shown}"))
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(integer) => integer.as_str().parse().ok(),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Characters, elements or members.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

struct Violation {
    rule: String,
    at: String,
    message: String,
}

/// The payload.
struct Outcome {
    violations: Vec<Violation>,
    unexamined: Vec<String>,
    rules: usize,
}

fn check(candidate: &[u8], rules: &Rules) -> Outcome {
    match parse_with(candidate, limits::RULES_DOCUMENT) {
        Ok(document) => Outcome {
            violations: rules.rules.iter().filter_map(|rule| rule.violation(&document)).collect(),
            unexamined: unexamined(&document, rules),
            rules: rules.rules.len(),
        },
        // The rules speak about a JSON document; a candidate that is none violates them all.
        Err(error) => Outcome {
            violations: vec![Violation {
                rule: "json-document".to_owned(),
                at: error.pointer.clone(),
                message: format!("the candidate is not one JSON document: {error}"),
            }],
            unexamined: Vec::new(),
            rules: rules.rules.len(),
        },
    }
}

/// Top-level members that no rule and no `ignore` reaches.
fn unexamined(document: &Value, rules: &Rules) -> Vec<String> {
    let named: Vec<&str> =
        rules.rules.iter().map(|rule| rule.at.as_str()).chain(rules.ignore.iter().map(String::as_str)).collect();
    if named.contains(&"") {
        return Vec::new();
    }
    let keys = document.as_object().map(Object::keys).into_iter().flatten();
    keys.map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")))
        .filter(|place| {
            !named
                .iter()
                .any(|at| at.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        })
        .collect()
}

impl Outcome {
    fn hold(&self) -> String {
        if self.rules == 1 { "the one rule holds".to_owned() } else { format!("all {} rules hold", self.rules) }
    }

    fn summary(&self) -> String {
        match (self.violations.len(), self.unexamined.len()) {
            (0, 0) => self.hold(),
            (0, 1) => format!("{}, but 1 member is examined by none", self.hold()),
            (0, unexamined) => format!("{}, but {unexamined} members are examined by none", self.hold()),
            (violations, _) => format!("{} found", counted(violations as u64, "rule violation")),
        }
    }

    fn to_value(&self) -> Value {
        let listed = self.violations.iter().take(limits::VIOLATIONS);
        Value::from_serde(serde_json::json!({
            "clean": self.violations.is_empty(),
            "coverage": {
                "complete": self.unexamined.is_empty(),
                "rules": self.rules,
                "unexamined": self.unexamined,
            },
            "verdict_summary": self.summary(),
            "violation_count": self.violations.len(),
            "violations": listed
                .map(|violation| serde_json::json!({
                    "at": violation.at,
                    "message": violation.message,
                    "rule": violation.rule,
                }))
                .collect::<Vec<_>>(),
        }))
    }
}
