//! Running cases: what comes, and where it is not what was expected.

use quorum_schemas::Timestamp;
use serde::Serialize;

use super::documents::Documents;
use super::file::{CaseFile, CaseText};
use crate::{Case, Decision, Explanation, Outcome, PoliciesError, Policy, Tally, decide, explain};

/// What came of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseReport {
    /// The case.
    pub name: String,
    /// Where it stands in the file.
    pub line: usize,
    /// A recommendation, `pending`, or the code of the error that refuses the case.
    pub found: String,
    /// The counts, if it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
    /// Everything that is not as expected; empty when the case holds.
    pub mismatches: Vec<Mismatch>,
}

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// `expect`, `row`, `tally`, `voices` or `refused`.
    pub what: &'static str,
    /// What the file says.
    pub expected: String,
    /// What came.
    pub found: String,
}

impl CaseFile {
    /// Judges every case under `policy`.
    ///
    /// # Errors
    /// [`PoliciesError::CasesValue`] for a case of which no documents can be made.
    pub fn run(&self, policy: &Policy) -> Result<Vec<CaseReport>, PoliciesError> {
        self.cases.iter().map(|(line, case)| self.run_case(*line, case, policy)).collect()
    }

    /// The proof tree of one case; `Err` inside for a case that cannot be judged at all.
    ///
    /// # Errors
    /// [`PoliciesError::CasesValue`] when no case has that name, and as [`decide`].
    pub fn explain(&self, policy: &Policy, name: &str) -> Result<Explanation, PoliciesError> {
        self.with_case(policy, name, explain)?
    }

    /// Lends the documents of one case, and the time at which it is decided.
    ///
    /// # Errors
    /// [`PoliciesError::CasesValue`] when no case has that name.
    pub fn with_case<T>(
        &self,
        policy: &Policy,
        name: &str,
        work: impl FnOnce(&Case<'_>, Timestamp) -> T,
    ) -> Result<T, PoliciesError> {
        let Some((line, case)) = self.cases.iter().find(|(_, case)| case.name == name) else {
            let known: Vec<String> = self.names().iter().map(|name| format!("{name:?}")).collect();
            let message = format!("no case is called {name:?}; there are {}", known.join(", "));
            return Err(PoliciesError::CasesValue { line: 1, message });
        };
        let documents = Documents::of(self, case, policy).map_err(|error| at_line(error, *line))?;
        Ok(work(&documents.case(policy), Documents::now()))
    }

    fn run_case(&self, line: usize, case: &CaseText, policy: &Policy) -> Result<CaseReport, PoliciesError> {
        let documents = Documents::of(self, case, policy).map_err(|error| at_line(error, line))?;
        let outcome = decide(&documents.case(policy), Documents::now());
        let (found, decision) = match &outcome {
            Ok(Outcome::Pending(_)) => ("pending".to_owned(), None),
            Ok(Outcome::Decided(decision)) => (decision.recommendation.to_string(), Some(&**decision)),
            Err(error) => (error.code().to_owned(), None),
        };
        Ok(CaseReport {
            name: case.name.clone(),
            line,
            tally: decision.map(|decision| decision.tally),
            mismatches: mismatches(case, &documents, &found, decision),
            found,
        })
    }
}

fn at_line(error: PoliciesError, line: usize) -> PoliciesError {
    match error {
        PoliciesError::CasesValue { message, .. } => PoliciesError::CasesValue { line, message },
        other => other,
    }
}

fn mismatches(case: &CaseText, documents: &Documents, found: &str, decision: Option<&Decision>) -> Vec<Mismatch> {
    let mut all = Vec::new();
    let mut compare = |what, expected: Option<String>, found: String| {
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            all.push(Mismatch { what, expected, found });
        }
    };
    compare("expect", Some(case.expect.clone()), found.to_owned());
    let row = decision.map_or(found, |decision| decision.row.as_str());
    compare("row", case.row.clone(), row.to_owned());
    let tally = |s: u64, o: u64, a: u64, n: u64| format!("s={s} o={o} a={a} n={n}");
    let counted = decision.map_or_else(
        || "none".to_owned(),
        |decision| tally(decision.tally.s, decision.tally.o, decision.tally.a, decision.tally.n),
    );
    compare("tally", case.tally.map(|wanted| tally(wanted.s, wanted.o, wanted.a, wanted.n)), counted);
    let voices = decision.iter().flat_map(|decision| &decision.voices);
    let voices = voices.map(|key| documents.names.get(key).cloned().unwrap_or_else(|| key.to_string()));
    compare("voices", case.voices.clone().map(listed), listed(voices.collect()));
    let refusals = decision.iter().flat_map(|decision| &decision.refusals).map(|refusal| {
        let author = documents.authors.get(&refusal.envelope).map_or("nobody", String::as_str);
        format!("{author} {}", refusal.code)
    });
    compare("refused", case.refused.clone().map(listed), listed(refusals.collect()));
    all
}

/// Names in order, so that the order in the file has no say.
fn listed(mut names: Vec<String>) -> String {
    names.sort();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
