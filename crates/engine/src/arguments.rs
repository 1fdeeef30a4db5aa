//! From named arguments to an argument vector, without letting a value become an option.

use std::collections::BTreeMap;

use quorum_schemas::Value;

use crate::descriptor::{Descriptor, Invocation, Token};
use crate::{EngineError, limits};

fn refuse(argument: &str, why: &str) -> EngineError {
    EngineError::Argument { argument: argument.to_owned(), why: why.to_owned() }
}

/// The arguments after the program, with the final `--json`.
pub(crate) fn admit(descriptor: &Descriptor, args: &BTreeMap<String, Value>) -> Result<Vec<String>, EngineError> {
    let invocation = descriptor
        .invocation
        .as_ref()
        .ok_or_else(|| refuse("", "the engine declares no invocation; choose one of its commands"))?;
    refuse_unknown(descriptor, invocation, args)?;
    if let Some(missing) = descriptor.required.iter().find(|name| !args.contains_key(*name)) {
        return Err(refuse(missing, "is required and missing"));
    }
    let mut argv = Vec::new();
    for token in &invocation.template {
        match token {
            Token::Literal(text) => argv.push(text.clone()),
            Token::Placeholder(name) => {
                let value = args.get(name).ok_or_else(|| refuse(name, "is required and missing"))?;
                let after_option = argv.last().is_some_and(|previous: &String| previous.starts_with('-'));
                argv.push(text_of(name, value, after_option)?);
            }
        }
    }
    for optional in &invocation.optional {
        match args.get(&optional.arg) {
            None => {}
            Some(value) if optional.boolean => match value {
                Value::Bool(true) => argv.push(optional.flag.clone()),
                Value::Bool(false) => {}
                _ => return Err(refuse(&optional.arg, "is a flag: give true or false")),
            },
            Some(value) => {
                argv.push(optional.flag.clone());
                argv.push(text_of(&optional.arg, value, true)?);
            }
        }
    }
    argv.push("--json".to_owned());
    Ok(argv)
}

/// Undeclared arguments are refused (loom_d6), and so are declared ones that the call has no place for: silently
/// dropping one would check something else than was asked.
fn refuse_unknown(
    descriptor: &Descriptor,
    invocation: &Invocation,
    args: &BTreeMap<String, Value>,
) -> Result<(), EngineError> {
    for name in args.keys() {
        let placed = invocation.template.iter().any(|token| *token == Token::Placeholder(name.clone()))
            || invocation.optional.iter().any(|optional| optional.arg == *name);
        if !placed {
            let declared = descriptor.known.contains(name);
            let why = if declared { "is declared, but the call has no place for it" } else { "is not declared" };
            return Err(refuse(name, why));
        }
    }
    Ok(())
}

/// Scalars become text (loom_d2). What begins with `-` would be read as an option and is refused (loom_d5), except for
/// a number right after an option that takes it.
fn text_of(name: &str, value: &Value, after_option: bool) -> Result<String, EngineError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Int(integer) => integer.as_str().to_owned(),
        Value::Float(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            return Err(refuse(name, "must be a string, a number or a boolean"));
        }
    };
    if text.is_empty() || text.contains('\0') || text.len() > limits::ARGUMENT_BYTES {
        return Err(refuse(name, "is empty, contains a NUL byte or is too long"));
    }
    let number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if text.starts_with('-') && !(after_option && number) {
        return Err(refuse(name, "begins with `-` and would be read as an option; write `./-name` for a file"));
    }
    Ok(text)
}
