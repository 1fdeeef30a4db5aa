//! Annotations for GitHub: workflow commands for a job's log, and batches for its Checks API.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::clean;
use super::model::{Level, Model, Part, Place};
use crate::limits;

/// One annotation, as the Checks API takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// Path relative to the repository.
    pub path: String,
    /// First line, from 1.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
    /// `failure`, `warning` or `notice`.
    pub annotation_level: &'static str,
    /// At most 255 characters.
    pub title: String,
    /// What is to be said, on one line.
    pub message: String,
}

/// Cuts annotations into requests: the Checks API refuses one with more than [`limits::ANNOTATIONS`].
#[must_use]
pub fn annotation_batches(annotations: &[Annotation]) -> Vec<&[Annotation]> {
    annotations.chunks(limits::ANNOTATIONS).collect()
}

/// Every item that is not proven, the worst first, one annotation for what one rule says about one thing at one place.
pub(super) fn annotations(model: &Model<'_>) -> Vec<Annotation> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<(&str, &str, Option<&Place>), usize> = BTreeMap::new();
    for (at, item) in model.items.iter().enumerate().filter(|(_, item)| item.level != Level::Pass) {
        let key = (item.rule.id, item.about.as_str(), item.place.as_ref());
        let group = *known.entry(key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(at);
    }
    groups.sort_by_key(|group| (model.items[group[0]].level, group[0]));
    groups.iter().map(|group| annotation(model, group)).collect()
}

fn annotation(model: &Model<'_>, group: &[usize]) -> Annotation {
    let item = &model.items[group[0]];
    let place = item.place.clone().unwrap_or_else(|| model.subject.default_place());
    let mut message = item.message.clone();
    if let Part::Verifier(id) = &item.part {
        message = format!("{id}: {message}");
    }
    if group.len() > 1 {
        message.push_str(&format!(" (and {} more of this rule)", group.len() - 1));
    }
    Annotation {
        path: place.file,
        start_line: place.line,
        end_line: place.line,
        annotation_level: match item.level {
            Level::Failure | Level::Error => "failure",
            Level::Warning => "warning",
            Level::Note | Level::Pass => "notice",
        },
        title: clean::clip(&format!("Quorum: {}", item.name), limits::ANNOTATION_TITLE_CHARS),
        message,
    }
}

/// One command a line. Of more than [`limits::ANNOTATIONS`] the first are shown, and a last line says how many there are.
pub(super) fn workflow_commands(annotations: &[Annotation]) -> String {
    let mut text = String::new();
    for annotation in annotations.iter().take(limits::ANNOTATIONS) {
        let command = match annotation.annotation_level {
            "failure" => "error",
            other => other,
        };
        text.push_str(&format!(
            "::{command} file={},line={},title={}::{}\n",
            property(&annotation.path),
            annotation.start_line,
            property(&annotation.title),
            data(&annotation.message)
        ));
    }
    if annotations.len() > limits::ANNOTATIONS {
        text.push_str(&showing(annotations.len()));
        text.push('\n');
    }
    text
}

/// What is shown of how many.
fn showing(total: usize) -> String {
    format!("showing {} of {total}", total.min(limits::ANNOTATIONS))
}

/// The batches as one JSON document: one request each, in order.
pub(super) fn render_batches(model: &Model<'_>) -> String {
    batches_json(&annotations(model))
}

fn batches_json(annotations: &[Annotation]) -> String {
    let document = json!({
        "schema_version": "0.1",
        "kind": "quorum-github-annotations",
        "total": annotations.len(),
        "showing": showing(annotations.len()),
        "batches": annotation_batches(annotations),
    });
    format!("{document:#}\n")
}

/// The message of a command, by the runner's rules.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command: it ends at a colon or comma too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
