//! A real pytest for the tests, and the small project that it judges.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::write;

const REQUIREMENT: &str = "pytest==9.*";

/// A Python that a sandboxed command can see, or nothing outside CI.
pub(crate) fn python() -> Option<PathBuf> {
    let masked = ["/root", "/home", "/run", "/tmp"];
    let found = ["/usr/local/bin/python3", "/usr/bin/python3"].map(PathBuf::from).into_iter().find(|path| {
        path.canonicalize().is_ok_and(|real| !masked.iter().any(|folder| real.starts_with(folder)))
    });
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "CI needs a system python3 for the forgeries");
    if found.is_none() {
        eprintln!("skipped: no system python3");
    }
    found
}

/// Puts pytest and `run.py`, which starts it with the arguments given, into a harness.
pub(crate) fn install(harness: &Path) {
    let packages = site_packages();
    copy(&packages, &harness.join("site"));
    write(
        harness,
        "run.py",
        "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'site'))\nimport pytest\nsys.exit(pytest.main(sys.argv[1:]))\n",
    );
}

/// The packages of a virtual environment with pytest: the one of `./x setup`, else one below the target directory.
fn site_packages() -> PathBuf {
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/pytest");
    if let Some(found) = find(&setup) {
        return found;
    }
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools");
    let ready = tools.join("pytest-9");
    if let Some(found) = find(&ready) {
        return found;
    }
    fs::create_dir_all(&tools).unwrap();
    let fresh = tempfile::tempdir_in(&tools).unwrap();
    let run = |program: &Path, args: &[&str]| {
        let status = Command::new(program).args(args).status().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        assert!(status.success(), "{} {args:?} failed; it needs python3 with venv and a package index", program.display());
    };
    run(Path::new("python3"), &["-m", "venv", fresh.path().to_str().unwrap()]);
    let pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", REQUIREMENT];
    run(&fresh.path().join("bin/python"), &pip);
    // Another test process may have been faster; either is as good.
    let _ = fs::rename(fresh.keep(), &ready);
    find(&ready).expect("pytest was just installed")
}

fn find(venv: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(venv.join("lib")).ok()?;
    versions.filter_map(Result::ok).map(|version| version.path().join("site-packages")).find(|site| site.join("pytest").is_dir())
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
