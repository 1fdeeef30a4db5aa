//! Tool descriptors, `vyges-tool-descriptor/1.0` and `/1.1`: what an engine declares about itself.

use quorum_schemas::{Object, Value, parse_with};

use crate::{EngineError, limits};

/// The evidence ladder. Absent or any other word is [`Maturity::Discovered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Maturity {
    /// Nothing validated the shape of its results: every verdict is suppressed.
    Discovered,
    /// Publishes a versioned operation and a normalised result.
    Structured,
    /// Also runs a pinned design end to end in its tests.
    WorkflowValidated,
}

impl Maturity {
    /// The word of the envelope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discovered => "discovered",
            Self::Structured => "structured",
            Self::WorkflowValidated => "workflow-validated",
        }
    }

    fn from_value(value: Option<&Value>) -> Self {
        match value.and_then(Value::as_str) {
            Some("structured") => Self::Structured,
            Some("workflow-validated") => Self::WorkflowValidated,
            _ => Self::Discovered,
        }
    }
}

/// The one predicate of an assertion.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// `{"is_true": true}`
    IsTrue,
    /// `{"eq": scalar}`
    Eq(Value),
}

/// The verdict rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// None declared: silence is never a pass (loom_v07).
    Silent,
    /// The operation makes no claim (loom_v06).
    NotApplicable {
        /// Its name, when given.
        id: Option<String>,
    },
    /// Declared, but unusable: dropped (loom_v08).
    Malformed {
        /// What is wrong with it.
        why: String,
    },
    /// A usable rule.
    Holds {
        /// The claim's name.
        id: String,
        /// Top-level key of the result, or a JSON Pointer when it starts with `/`.
        field: String,
        /// What the field must satisfy.
        pass_when: Predicate,
        /// Key of the engine's own sentence.
        summary_field: Option<String>,
    },
}

/// One element of the argument vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Literal(String),
    Placeholder(String),
}

/// An argument that is added when it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Optional {
    pub(crate) arg: String,
    pub(crate) flag: String,
    /// A flag alone, without a value.
    pub(crate) boolean: bool,
}

/// How the engine is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) template: Vec<Token>,
    pub(crate) optional: Vec<Optional>,
    pub(crate) emits_json: bool,
}

/// Where a produced file is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Field(String),
    Argument(String),
}

/// What an engine declares about itself.
#[derive(Debug, Clone)]
pub struct Descriptor {
    pub(crate) name: String,
    pub(crate) maturity: Maturity,
    pub(crate) limitations: Vec<String>,
    pub(crate) invocation: Option<Invocation>,
    pub(crate) required: Vec<String>,
    pub(crate) known: Vec<String>,
    pub(crate) artifacts: Vec<(String, Source)>,
    pub(crate) assertion: Assertion,
    commands: Vec<Value>,
}

fn wrong(pointer: &str, why: &str) -> EngineError {
    EngineError::Descriptor { pointer: pointer.to_owned(), why: why.to_owned() }
}

impl Descriptor {
    /// Reads the output of `ENGINE --describe`.
    ///
    /// An assertion that cannot be used is kept as [`Assertion::Malformed`]: the engine can run, and proves nothing.
    ///
    /// # Errors
    /// [`EngineError::Descriptor`] with the place.
    pub fn parse(bytes: &[u8]) -> Result<Self, EngineError> {
        let value = parse_with(bytes, limits::DESCRIPTOR).map_err(|error| wrong(&error.pointer, &error.to_string()))?;
        Self::from_value(&value)
    }

    /// Reads a descriptor that has been parsed.
    ///
    /// # Errors
    /// As [`Descriptor::parse`].
    pub fn from_value(value: &Value) -> Result<Self, EngineError> {
        if value.as_object().is_none() {
            return Err(wrong("", "is no object"));
        }
        match value.get("schema").map(Value::as_str) {
            None | Some(Some("vyges-tool-descriptor/1.0" | "vyges-tool-descriptor/1.1")) => {}
            _ => return Err(wrong("/schema", "is not vyges-tool-descriptor/1.0 or /1.1")),
        }
        let name = value.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let inputs = value.get("inputs");
        Ok(Self {
            name: name.ok_or_else(|| wrong("/name", "is missing or no string"))?.to_owned(),
            maturity: Maturity::from_value(value.get("maturity")),
            limitations: strings(value.get("provenance_limitations")),
            invocation: value.get("invocation").map(invocation).transpose()?,
            required: strings(inputs.and_then(|inputs| inputs.get("required"))),
            known: inputs
                .and_then(|inputs| inputs.get("properties"))
                .and_then(Value::as_object)
                .map(|properties| properties.keys().cloned().collect())
                .unwrap_or_default(),
            artifacts: artifacts(value.get("artifacts")),
            assertion: assertion(value.get("assertion")),
            commands: value.get("commands").and_then(Value::as_array).unwrap_or_default().to_vec(),
        })
    }

    /// The tool's short name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The effective maturity.
    #[must_use]
    pub fn maturity(&self) -> Maturity {
        self.maturity
    }

    /// The verdict rule.
    #[must_use]
    pub fn assertion(&self) -> &Assertion {
        &self.assertion
    }

    /// Whether standard output is to be one JSON value.
    #[must_use]
    pub fn emits_json(&self) -> bool {
        self.invocation.as_ref().is_none_or(|invocation| invocation.emits_json)
    }

    /// The descriptor of one command of a multi-command engine: what the command states replaces what the tool states.
    ///
    /// # Errors
    /// When no command has this name.
    pub fn command(&self, name: &str) -> Result<Self, EngineError> {
        let named =
            |entry: &&Value| entry.as_str() == Some(name) || entry.get("name").and_then(Value::as_str) == Some(name);
        let entry = self.commands.iter().find(named).ok_or_else(|| wrong("/commands", &format!("has no `{name}`")))?;
        let mut chosen = Self { commands: Vec::new(), ..self.clone() };
        if entry.get("args_template").is_some() {
            chosen.invocation = Some(invocation(entry)?);
        }
        if entry.get("assertion").is_some() {
            chosen.assertion = assertion(entry.get("assertion"));
        }
        if entry.get("maturity").is_some() {
            chosen.maturity = Maturity::from_value(entry.get("maturity"));
        }
        Ok(chosen)
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn invocation(value: &Value) -> Result<Invocation, EngineError> {
    let template = value
        .get("args_template")
        .and_then(Value::as_array)
        .ok_or_else(|| wrong("/invocation/args_template", "is missing or no array"))?;
    let template: Result<Vec<Token>, EngineError> = template.iter().map(token).collect();
    let optional = value.get("optional").and_then(Value::as_array).unwrap_or_default();
    let optional: Option<Vec<Optional>> = optional
        .iter()
        .map(|entry| {
            Some(Optional {
                arg: entry.get("arg")?.as_str()?.to_owned(),
                flag: entry.get("flag")?.as_str().filter(|flag| flag.starts_with('-'))?.to_owned(),
                boolean: entry.get("kind").and_then(Value::as_str) == Some("flag"),
            })
        })
        .collect();
    Ok(Invocation {
        template: template?,
        optional: optional.ok_or_else(|| wrong("/invocation/optional", "an entry has no `arg` or no `flag`"))?,
        emits_json: value.get("emits_json").and_then(Value::as_bool).unwrap_or(true),
    })
}

/// A placeholder is a whole element (loom_d4): `x{y}` would be a value glued to a literal.
fn token(value: &Value) -> Result<Token, EngineError> {
    let place = "/invocation/args_template";
    let text = value.as_str().ok_or_else(|| wrong(place, "an element is no string"))?;
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    match inner {
        Some(name) if !name.is_empty() && !name.contains(['{', '}']) => Ok(Token::Placeholder(name.to_owned())),
        None if !text.contains(['{', '}']) => Ok(Token::Literal(text.to_owned())),
        _ => Err(wrong(place, "has a brace inside an element; a placeholder is a whole element")),
    }
}

/// Entries without a source are dropped (loom_a7).
fn artifacts(value: Option<&Value>) -> Vec<(String, Source)> {
    let entries = value.and_then(Value::as_array).unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
            let source = text("field").map(Source::Field).or_else(|| text("from_arg").map(Source::Argument))?;
            Some((text("role")?, source))
        })
        .collect()
}

fn assertion(value: Option<&Value>) -> Assertion {
    let Some(value) = value else {
        return Assertion::Silent;
    };
    let malformed = |why: &str| Assertion::Malformed { why: why.to_owned() };
    let Some(members) = value.as_object() else {
        return malformed("it is no object");
    };
    let text = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);
    match members.get("not_applicable").map(Value::as_bool) {
        Some(Some(true)) => return Assertion::NotApplicable { id: text("id") },
        Some(_) => return malformed("`not_applicable` is not true"),
        None => {}
    }
    let (Some(id), Some(field)) = (text("id"), text("field")) else {
        return malformed("it has no `id` or no `field`");
    };
    match members.get("pass_when").and_then(Value::as_object).map(predicate) {
        Some(Ok(pass_when)) => Assertion::Holds { id, field, pass_when, summary_field: text("summary_field") },
        Some(Err(why)) => malformed(why),
        None => malformed("`pass_when` is missing or no object"),
    }
}

fn predicate(members: &Object) -> Result<Predicate, &'static str> {
    let mut entries = members.iter();
    let (Some((name, operand)), None) = (entries.next(), entries.next()) else {
        return Err("`pass_when` does not have exactly one predicate");
    };
    match (name.as_str(), operand) {
        ("is_true", Value::Bool(true)) => Ok(Predicate::IsTrue),
        ("is_true", _) => Err("`is_true` takes only true"),
        ("eq", Value::Null | Value::Array(_) | Value::Object(_)) => Err("`eq` takes a boolean, a number or a string"),
        ("eq", operand) => Ok(Predicate::Eq(operand.clone())),
        _ => Err("the predicate is unknown"),
    }
}
