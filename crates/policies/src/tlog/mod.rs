//! Import and export of the groups of a C2SP tlog-policy (c2sp.org/tlog-policy): its witnesses are our operators, its
//! groups our `[groups]`. What the other side cannot say is an error, never dropped.

mod convert;
mod parse;
mod vkey;

pub use convert::{Imported, LeaveOut};
pub use parse::{TlogGroup, TlogLog, TlogPolicy, TlogWitness};
pub use vkey::Vkey;
