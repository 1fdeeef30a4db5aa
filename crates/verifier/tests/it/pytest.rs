//! A real pytest for the tests, and the small project that it judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::write;

const REQUIREMENT: &str = "pytest==9.*";

/// A Python that a sandboxed command can see, or nothing outside CI.
pub(crate) fn python() -> Option<PathBuf> {
    let masked = ["/root", "/home", "/run", "/tmp"];
    let found = ["/usr/local/bin/python3", "/usr/bin/python3"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.canonicalize().is_ok_and(|real| !masked.iter().any(|folder| real.starts_with(folder))));
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "CI needs a system python3 for the forgeries");
    if found.is_none() {
        eprintln!("skipped: no system python3");
    }
    found
}

const RUN: &str = "import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'site'))
import pytest
sys.exit(pytest.main(sys.argv[1:]))
";

/// Tests that reach the candidate through two pipes.
const HIDDEN: &str = "import os

def ask(a, b):
    os.write(4, b'%d %d\\n' % (a, b))
    line = b''
    while not line.endswith(b'\\n'):
        byte = os.read(3, 1)
        assert byte, 'the candidate is gone'
        line += byte
    return line

def test_add():
    assert ask(2, 2) == b'4\\n'

def test_zero():
    assert ask(0, 0) == b'0\\n'
";

/// A harness with pytest, `run.py`, which starts it with the arguments given, and hidden tests in `tests`. Made once: it
/// is read-only to whatever runs.
pub(crate) fn harness(python: &Path) -> PathBuf {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools");
    let ready = tools.join("harness-1");
    if !ready.is_dir() {
        fs::create_dir_all(&tools).unwrap();
        let fresh = tempfile::tempdir_in(&tools).unwrap();
        copy(&site_packages(&tools), &fresh.path().join("site"));
        write(fresh.path(), "run.py", RUN);
        write(fresh.path(), "tests/__init__.py", "");
        write(fresh.path(), "tests/test_hidden.py", HIDDEN);
        run(
            python,
            &["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", fresh.path().to_str().unwrap()],
        );
        fs::set_permissions(fresh.path(), <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755))
            .unwrap();
        // Another test process may have been faster; either is as good.
        let _ = fs::rename(fresh.keep(), &ready);
    }
    ready.canonicalize().unwrap()
}

fn run(program: &Path, args: &[&str]) {
    let status =
        Command::new(program).args(args).status().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(status.success(), "{} {args:?} failed; it needs python3 with venv and a package index", program.display());
}

/// The packages of a virtual environment with pytest: the one of `./x setup`, else one below the target directory.
fn site_packages(tools: &Path) -> PathBuf {
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/pytest");
    if let Some(found) = find(&setup) {
        return found;
    }
    let ready = tools.join("pytest-9");
    if let Some(found) = find(&ready) {
        return found;
    }
    let fresh = tempfile::tempdir_in(tools).unwrap();
    run(Path::new("python3"), &["-m", "venv", fresh.path().to_str().unwrap()]);
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", REQUIREMENT];
    run(&fresh.path().join("bin/python"), &pip);
    // As above.
    let _ = fs::rename(fresh.keep(), &ready);
    find(&ready).expect("pytest was just installed")
}

fn find(venv: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(venv.join("lib")).ok()?;
    versions
        .filter_map(Result::ok)
        .map(|version| version.path().join("site-packages"))
        .find(|site| site.join("pytest").is_dir())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for item in fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let name = item.file_name().into_string().unwrap();
        // Neither installers nor caches are needed to run tests.
        if ["pip", "setuptools", "pkg_resources", "__pycache__"].iter().any(|word| name.starts_with(word)) {
            continue;
        }
        let target = to.join(&name);
        if item.file_type().unwrap().is_dir() {
            copy(&item.path(), &target);
        } else {
            fs::copy(item.path(), &target).unwrap();
        }
    }
}
