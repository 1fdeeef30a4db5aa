//! One run from files: `quorum-workbench-run STORE ROOT GENERATION PROFILE_DIGEST REQUEST`. Prints the result, or the code
//! of a refusal on stderr. The workspace, its one root and the operator's confirmed grant are those that the request
//! names: whoever starts this program is the owner of the folder.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quorum_schemas::{JcsDigest, Timestamp};
use quorum_workbench::{Grant, Host, Now, Place, Ref, Request, Retention, Store, WorkbenchError, limits, run};

fn main() -> ExitCode {
    quorum_sandbox::init_main();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, root, generation, digest, request] = arguments.as_slice() else {
        eprintln!("usage: quorum-workbench-run STORE ROOT GENERATION PROFILE_DIGEST REQUEST");
        return ExitCode::from(2);
    };
    match answer(Path::new(store), Path::new(root), generation, digest, Path::new(request)) {
        Ok(bytes) if std::io::stdout().write_all(&bytes).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(5),
        Err(error) => {
            eprintln!("error[{}]: {error}", error.code());
            ExitCode::from(2)
        }
    }
}

fn answer(
    store: &Path,
    root: &Path,
    generation: &str,
    digest: &str,
    request: &Path,
) -> Result<Vec<u8>, WorkbenchError> {
    let unreadable = |source| WorkbenchError::Store { path: request.to_owned(), source };
    let request = Request::read(&std::fs::read(request).map_err(unreadable)?)?;
    let host = Host {
        workspace: request.address().workspace.clone(),
        roots: [request.address().root.clone()].into(),
        profiles: [digest.parse()?].into(),
        grants: BTreeMap::from([(Ref::new("grant:owner")?, Grant::OperatorConfirmed)]),
        policy: JcsDigest::from_bytes([0; 32]),
    };
    let place = Place {
        roots: [(request.address().root.clone(), root.to_owned())].into(),
        hidden: vec![store.to_owned()],
        search: ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec(),
    };
    let retention = Retention::new(limits::RETENTION, Duration::from_secs(15), Duration::from_secs(3600))?;
    let now = Now { generation: &Ref::new(generation)?, decided: false, retention, clock };
    run(&request, &host, &place, &Store::open(store)?, now)?.result.to_bytes()
}

fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
