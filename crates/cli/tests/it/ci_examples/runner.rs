//! A small runner of GitHub workflows: it knows the few actions of the examples and runs their shell as GitHub does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

/// One run of a workflow on one repository: what its jobs share.
pub(super) struct Run {
    /// The repository that jobs check out.
    pub(super) repository: PathBuf,
    /// Uploaded artifacts, by name.
    pub(super) artifacts: PathBuf,
    /// Expressions and their values; an unknown one fails the test.
    pub(super) context: BTreeMap<String, String>,
}

/// One job's machine.
pub(super) struct Machine {
    pub(super) workspace: PathBuf,
    pub(super) temp: PathBuf,
    context: BTreeMap<String, String>,
    failed: bool,
}

/// How a job ended.
pub(super) struct Ended {
    pub(super) success: bool,
    /// Both streams of every step.
    pub(super) log: String,
    /// The exit code of the last step that ran shell.
    pub(super) code: i32,
    pub(super) summary: String,
    pub(super) machine: Machine,
}

impl Ended {
    #[track_caller]
    pub(super) fn succeeds(self) -> Self {
        assert!(self.success, "exit {}:\n{}", self.code, self.log);
        self
    }

    #[track_caller]
    pub(super) fn fails(self, code: i32) -> Self {
        assert!(!self.success && self.code == code, "success {}, exit {}:\n{}", self.success, self.code, self.log);
        self
    }

    /// The value of an expression after the job.
    pub(super) fn value(&self, expression: &str) -> &str {
        self.machine.context.get(expression).map_or("", String::as_str)
    }
}

impl Run {
    /// Runs one job of a workflow, or the steps of a composite action, on a machine of its own below `root`.
    pub(super) fn job(&self, steps: &Json, root: &Path, more: &[(&str, &str)]) -> Ended {
        let machine = Machine::new(root, &self.context, more);
        let mut ended = Ended { success: true, log: String::new(), code: 0, summary: String::new(), machine };
        for step in steps.as_array().unwrap() {
            let always = step["if"].as_str().is_some_and(|condition| condition.contains("always()"));
            if ended.machine.failed && !always {
                continue;
            }
            let done = match step["uses"].as_str() {
                Some(uses) => self.uses(uses, step, &ended.machine),
                None => ended.machine.shell(step, &mut ended.log, &mut ended.code),
            };
            ended.machine.failed |= !done;
        }
        ended.success = !ended.machine.failed;
        ended.summary = fs::read_to_string(root.join("summary.md")).unwrap();
        ended
    }

    /// What the actions of the examples do.
    fn uses(&self, uses: &str, step: &Json, machine: &Machine) -> bool {
        let (action, version) = uses.split_once('@').unwrap();
        assert!(version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses} is pinned");
        let with = |key: &str| step["with"][key].as_str().map(|text| machine.resolve(text));
        match action {
            "actions/checkout" => {
                assert_eq!(step["with"]["persist-credentials"], false, "no credentials stay for the candidate");
                let reference = with("ref").unwrap_or_else(|| machine.context["github.sha"].clone());
                git(&self.repository, &["clone", "-q", ".", machine.workspace.to_str().unwrap()]);
                git(&machine.workspace, &["checkout", "-q", &reference]);
                true
            }
            "actions/upload-artifact" => {
                let from = machine.workspace.join(with("path").unwrap());
                let to = self.artifacts.join(with("name").unwrap());
                if !from.exists() {
                    return step["with"]["if-no-files-found"] == "ignore";
                }
                if from.is_dir() {
                    copy(&from, &to)
                } else {
                    copy_into(&from, &to)
                }
                true
            }
            "actions/download-artifact" => {
                let to = machine.workspace.join(with("path").unwrap());
                let from = with("name").map_or(self.artifacts.clone(), |name| self.artifacts.join(name));
                from.exists() && {
                    copy(&from, &to);
                    true
                }
            }
            "github/codeql-action/upload-sarif" => {
                let text = fs::read(machine.workspace.join(with("sarif_file").unwrap())).unwrap();
                serde_json::from_slice::<Json>(&text).unwrap()["version"] == "2.1.0"
            }
            other => panic!("the runner does not know {other}"),
        }
    }
}

impl Machine {
    fn new(root: &Path, shared: &BTreeMap<String, String>, more: &[(&str, &str)]) -> Self {
        let (workspace, temp) = (root.join("workspace"), root.join("temp"));
        fs::create_dir_all(&workspace).unwrap();
        fs::create_dir_all(&temp).unwrap();
        fs::write(root.join("summary.md"), "").unwrap();
        let mut context = shared.clone();
        context.insert("runner.temp".to_owned(), temp.to_str().unwrap().to_owned());
        context.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        Self { workspace, temp, context, failed: false }
    }

    /// The text with every expression replaced.
    pub(super) fn resolve(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (expression, after) = after.split_once("}}").unwrap();
            let value = self.context.get(expression.trim());
            out.push_str(before);
            out.push_str(value.unwrap_or_else(|| panic!("unknown expression {expression}")));
            rest = after;
        }
        out + rest
    }

    /// Runs a step's shell; its outputs become expressions.
    fn shell(&mut self, step: &Json, log: &mut String, code: &mut i32) -> bool {
        assert_eq!(step["shell"], "bash", "the shell is named");
        let script = step["run"].as_str().unwrap();
        assert!(!script.contains("${{"), "values come by the environment, never as shell text: {script}");
        let file = self.temp.with_file_name("step.sh");
        fs::write(&file, script).unwrap();
        let outputs = self.temp.with_file_name("outputs");
        fs::write(&outputs, "").unwrap();
        let mut command = bash(&self.workspace, &self.temp);
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(&file);
        command.env("GITHUB_OUTPUT", &outputs).env("GITHUB_STEP_SUMMARY", self.temp.with_file_name("summary.md"));
        command.env("RUNNER_TEMP", &self.temp).env("GITHUB_ACTIONS", "true");
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, self.resolve(value.as_str().unwrap()));
        }
        let output = command.output().unwrap();
        log.push_str(&String::from_utf8_lossy(&output.stdout));
        log.push_str(&String::from_utf8_lossy(&output.stderr));
        *code = output.status.code().unwrap_or(-1);
        if let Some(id) = step["id"].as_str() {
            for line in fs::read_to_string(&outputs).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                self.context.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
        output.status.success()
    }
}

/// `bash` in a directory, with the tested `quorum` first on the path and nothing else of our environment.
pub(super) fn bash(directory: &Path, temp: &Path) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_quorum")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.current_dir(directory).env_clear().env("PATH", path).env("HOME", temp);
    command
}

pub(super) fn git(directory: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn copy_into(file: &Path, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::copy(file, folder.join(file.file_name().unwrap())).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() { copy(&entry.path(), &target) } else { copy_into(&entry.path(), to) }
    }
}
