//! The table at the end.

use quorum_schemas::Value;
use serde_json::json;

use crate::error::CliError;
use crate::ui::Ui;

/// One story and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What was handed in.
    pub(super) story: &'static str,
    /// How it should end.
    pub(super) expected: &'static str,
    /// How it ended, read back from the stream.
    pub(super) found: String,
    /// What it rests on, in a few words.
    pub(super) because: String,
    /// What the audit of the record says; a dash where there is no record.
    pub(super) audit: String,
}

impl Row {
    /// Whether it ended as it should.
    pub(super) fn holds(&self) -> bool {
        self.found == self.expected && (self.audit == "same" || self.audit == "-")
    }
}

/// Prints the rows; a row that did not end as it should says so first.
pub(super) fn print(rows: &[Row], ui: &mut Ui) -> Result<(), CliError> {
    if ui.json() {
        let rows: Vec<serde_json::Value> = rows
            .iter()
            .map(|row| {
                json!({"story": row.story, "expected": row.expected, "found": row.found, "because": row.because,
                    "audit": row.audit, "holds": row.holds()})
            })
            .collect();
        return ui.document(&Value::from_serde(json!({ "stories": rows })));
    }
    let widths = [
        rows.iter().map(|row| row.story.len()).max().unwrap_or(0),
        rows.iter().map(|row| row.found.len()).max().unwrap_or(0),
    ];
    ui.line(format!("     {:<2$}  {:<3$}  audit  because", "handed in", "ended as", widths[0], widths[1]))?;
    for row in rows {
        let mark = if row.holds() { "ok  " } else { "FAIL" };
        let (story, found) = (row.story, &row.found);
        ui.line(format!("{mark} {story:<2$}  {found:<3$}  {:<5}  {}", row.audit, row.because, widths[0], widths[1]))?;
        if row.found != row.expected {
            ui.line(format!("     expected {}", row.expected))?;
        }
    }
    Ok(())
}
