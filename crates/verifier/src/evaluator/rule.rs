//! The numbered refusals of an imported plan.

use std::fmt;

use quorum_schemas::code_words;

code_words! {
    /// Why an EvaluatorPlan cannot be run on a candidate; the numbers are those of the reference, section 3.8. E11, E12 and
    /// E15 are kept by whoever opens files (the gate's control-file rule), under codes of its own.
    pub enum EvaluatorRule in "verifier" {
        /// The EvaluatorPlan is not of version 0.1 to 0.4, or does not follow its schema.
        E1 = "idk_e01", "Correct it at the place that the message names.", exit 2;
        /// The EvaluatorPlan is bound to another work unit.
        E2 = "idk_e02", "Give the plan of this work unit.", exit 2;
        /// The EvaluatorPlan is bound to another version of the work unit.
        E3 = "idk_e03", "Bind the plan to this version.", exit 2;
        /// The EvaluatorPlan is bound to other content of the work unit.
        E4 = "idk_e04", "Find out who changed the work unit; bind the plan again only if that was right.", exit 2;
        /// The plan's source revision is not the one that the work unit declares.
        E5 = "idk_e05", "Bind the plan to the work unit's revision.", exit 2;
        /// The plan's source revision is not the one that the manifest declares.
        E6 = "idk_e06", "Have the work done, or the plan bound, on the right revision.", exit 2;
        /// The plan's validators are not exactly the required ones of the work unit.
        E7 = "idk_e07", "List exactly the work unit's required validators.", exit 2;
        /// The plan's backend does not implement exactly these validators.
        E8 = "idk_e08", "Use the version whose backend implements them, or a plan template.", exit 2;
        /// The manifest does not request every required validator.
        E9 = "idk_e09", "Have the worker request them.", exit 2;
        /// The verifier is the worker.
        E10 = "idk_e10", "Have somebody else verify.", exit 2;
        /// The EvaluatorPlan lies inside the candidate.
        E11 = "idk_e11", "Keep it where the candidate cannot write.", exit 2;
        /// The output lies inside the candidate.
        E12 = "idk_e12", "Name a folder outside of the candidate.", exit 2;
        /// The plan's verifier block is not the adapter whose meaning its version has.
        E13 = "idk_e13", "Name the adapter and version that the schema fixes.", exit 2;
        /// The required checks of our own result are not the plan's validators, so nothing was signed: a defect of this program.
        E14 = "idk_e14", "Report it with the message.", exit 5;
        /// The output would be written over something else.
        E15 = "idk_e15", "Name a folder that is absent or empty.", exit 2;
        /// A field of 0.2 stands in a later plan, or substrings repeat or span lines.
        E16 = "idk_e16", "Write distinct substrings of one line each under the name of the plan's version.", exit 2;
    }
}

impl EvaluatorRule {
    /// Every rule.
    pub const ALL: [Self; 16] = [
        Self::E1,
        Self::E2,
        Self::E3,
        Self::E4,
        Self::E5,
        Self::E6,
        Self::E7,
        Self::E8,
        Self::E9,
        Self::E10,
        Self::E11,
        Self::E12,
        Self::E13,
        Self::E14,
        Self::E15,
        Self::E16,
    ];
}

impl fmt::Display for EvaluatorRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
