//! The generated pages are those in the repository; help, completions and man pages of every command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use quorum_schemas::Value;

use crate::world::{Said, World};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// A page is what the program prints now. `UPDATE=1` writes it.
fn is_current(name: &str, arguments: &str) {
    let made = World::new().run(arguments).exits(0).stdout;
    let path = docs(name);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let first = made.lines().zip(kept.lines()).position(|(new, old)| new != old);
    let line = first.unwrap_or_else(|| made.lines().count().min(kept.lines().count()));
    assert!(
        made == kept,
        "docs/{name} is not what `quorum {arguments}` prints, from line {}; run `./x generate`",
        line + 1
    );
}

#[test]
fn the_reference_is_generated() {
    is_current("cli/reference.md", "reference");
    let commands = commands();
    // The index has the page of `reference` itself.
    let own_page = |path: &&String| !path.is_empty() && !path.contains(' ') && *path != "reference";
    let mut pages: Vec<&str> = commands.iter().filter(own_page).map(String::as_str).collect();
    for name in &pages {
        is_current(&format!("cli/{name}.md"), &format!("reference {name}"));
    }
    // A page of a command that is no more would be a lie.
    let kept = fs::read_dir(docs("cli")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut kept: Vec<String> = kept.collect();
    kept.sort();
    pages.push("reference");
    let mut pages: Vec<String> = pages.iter().map(|name| format!("{name}.md")).collect();
    pages.sort();
    assert_eq!(kept, pages);
}

#[test]
fn the_error_catalogue_is_generated() {
    is_current("errors.md", "errors --markdown");
}

/// The words of every command, and of those that only hold others.
fn commands() -> Vec<String> {
    let listed = World::new().run("reference --json").exits(0).json();
    let listed = listed.get("commands").and_then(Value::as_array).unwrap();
    let mut paths: Vec<String> =
        listed.iter().map(|it| it.get("command").and_then(Value::as_str).unwrap().to_owned()).collect();
    let parents: Vec<String> =
        paths.iter().filter_map(|path| path.rsplit_once(' ').map(|(parent, _)| parent.to_owned())).collect();
    paths.extend(parents);
    paths.push(String::new());
    paths.sort();
    paths.dedup();
    paths
}

/// The pages of the reference are the snapshots of the help: every text of every command stands in them.
#[test]
fn the_help_of_every_command() {
    let world = World::new();
    for path in commands() {
        let said = world.run(&format!("{path} --help")).exits(0);
        assert_eq!(said.stderr, "", "{path}");
        assert!(!said.stdout.contains('\u{1b}'), "{path}: no colour without a terminal");
        if path.is_empty() {
            insta::assert_snapshot!("help", said.stdout);
            continue;
        }
        let page = fs::read_to_string(docs(&format!("cli/{}.md", path.split(' ').next().unwrap()))).unwrap();
        let help: Vec<&str> = said.stdout.lines().map(str::trim_end).collect();
        assert!(page.contains(help.join("\n").trim_end()), "{path}: `./x generate` writes its page again");
    }
}

#[test]
fn a_man_page_for_every_command_without_a_warning() {
    let world = World::new();
    let said = world.run("man pages --json").exits(0).json();
    let mut files: Vec<&str> =
        said.get("files").and_then(Value::as_array).unwrap().iter().filter_map(Value::as_str).collect();
    files.sort_unstable();
    let expected: Vec<String> =
        commands().iter().map(|path| format!("pages/quorum {path}").trim_end().replace(' ', "-") + ".1").collect();
    let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(files, expected);
    for file in files {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww", "-P-cbou"]).arg(world.path(file)).stdin(Stdio::null());
        let output = match groff.output() {
            Ok(output) => output,
            Err(error) => {
                assert!(std::env::var_os("CI").is_none(), "groff reads the man pages: {error}");
                return;
            }
        };
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{file}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(String::from_utf8_lossy(&output.stdout).contains("NAME"), "{file}");
    }
}

/// Bash asks the script itself.
#[test]
fn completions_for_every_shell() {
    let world = World::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = world.run(&format!("completions {shell}")).exits(0).stdout;
        assert!(script.contains("withdraw-policy") && script.contains("trust-min-version"), "{shell}");
    }
    let script = world.run("completions bash").exits(0).stdout;
    world.write("quorum.bash", script);
    let ask = "source quorum.bash; COMP_WORDS=(quorum handoff de); COMP_CWORD=2; \
               _quorum quorum de handoff; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["--norc", "-c", ask]).current_dir(world.path("")).output().unwrap();
    assert_eq!(Said::of(output).exits(0).stdout.trim(), "derive");
}

/// Zsh and fish read their scripts where they are installed. Neither is in what `./x setup` installs, so elsewhere the
/// form alone is looked at: what they start with, every quote closed, commands there.
#[test]
fn completions_of_zsh_and_fish_are_whole() {
    let world = World::new();
    for (shell, check) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let script = world.run(&format!("completions {shell}")).exits(0).stdout;
        let file = world.write(&format!("quorum.{shell}"), &script);
        match Command::new(shell).arg(check).arg(&file).output() {
            Ok(output) => assert_eq!(Said::of(output).exits(0).stderr, "", "{shell}"),
            Err(error) => eprintln!("no {shell} here ({error}): its completions are not parsed"),
        }
        assert_eq!(open_at_the_end(&script, shell == "fish"), None, "{shell}");
    }
    let zsh = String::from_utf8(world.read("quorum.zsh")).unwrap();
    assert!(zsh.starts_with("#compdef quorum\n"));
    let fish = String::from_utf8(world.read("quorum.fish")).unwrap();
    assert!(fish.lines().filter(|line| line.starts_with("complete -c quorum ")).count() > 100);
    for command in ["gate", "dsse", "submit", "trust"] {
        assert!(zsh.contains(&format!("'{command}:")) && fish.contains(&format!("-a \"{command}\"")), "{command}");
    }
}

/// The quote that a shell would still wait for; in fish a backslash also escapes inside of single quotes.
fn open_at_the_end(script: &str, fish: bool) -> Option<char> {
    let mut open = None;
    let code: Vec<&str> = script.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let code = code.join("\n");
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match (open, character) {
            (Some('\''), '\\') if fish => drop(characters.next()),
            (Some('\''), '\'') | (Some('"'), '"') => open = None,
            (None | Some('"'), '\\') => drop(characters.next()),
            (None, '\'' | '"') => open = Some(character),
            _ => {}
        }
    }
    open
}

#[test]
fn the_width_of_the_help_follows_the_terminal_to_100() {
    let world = World::new();
    for (columns, most) in [("60", 60), ("400", 100)] {
        let output = world.command().args(["gate", "--help"]).env("COLUMNS", columns).output().unwrap();
        let help = Said::of(output).exits(0).stdout;
        // Examples are lines to copy, and stay whole.
        let prose = help.split("Examples:").next().unwrap();
        let widest = prose.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= most, "{columns}: {widest}");
    }
}

#[test]
fn colour_on_a_terminal_only_and_never_with_no_color() {
    let world = World::new();
    let run = |environment: &str| {
        let line = format!("{environment} '{}' digest absent", env!("CARGO_BIN_EXE_quorum"));
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(world.path("")).stdin(Stdio::null());
        script.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Ok(coloured) = run("NO_COLOR=") else {
        assert!(std::env::var_os("CI").is_none(), "`script` makes the terminal");
        return;
    };
    assert!(coloured.starts_with("\u{1b}[1;31merror\u{1b}[0m[cannot_read]: "), "{coloured:?}");
    assert!(run("NO_COLOR=1").unwrap().starts_with("error[cannot_read]: "));
    assert!(world.run("digest absent").exits(2).stderr.starts_with("error[cannot_read]: "), "no terminal, no colour");
}

#[test]
fn an_error_is_explained() {
    let world = World::new();
    insta::assert_snapshot!("explained", world.run("errors plan_missing").exits(0).stdout);
    let said = world.run("errors plan_mising").refuses(2, "code_unknown");
    assert!(said.stderr.contains("did you mean `plan_missing`?"), "{}", said.stderr);
    insta::assert_snapshot!("exit_codes", world.run("exit-codes").exits(0).stdout);
}

/// Only on a terminal: a log keeps no line of it.
#[test]
fn long_work_says_that_it_goes_on() {
    let world = World::with_example();
    let plan = String::from_utf8(world.read("example/plan.toml")).unwrap();
    let (head, _) = plan.split_once("[[check]]\nid = \"independent-acceptance\"").unwrap();
    let slow = "[[check]]\nid = \"independent-acceptance\"\nkind = \"command\"\nargv = [\"/bin/sleep\", \"2.5\"]\n";
    world.write("slow.toml", format!("{head}{slow}timeout = \"60s\"\n"));
    let line = "gate --work-unit example/work-unit.json --candidate example/good --plan slow.toml";
    let said = world.run(line);
    assert!(!said.stderr.contains("checking"), "{}", said.stderr);
    let mut script = Command::new("script");
    script.args(["-qec", &format!("TERM=xterm '{}' {line}", env!("CARGO_BIN_EXE_quorum")), "/dev/null"]);
    match script.current_dir(world.path("")).stdin(Stdio::null()).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("checking, 1 s") && text.contains("\r\u{1b}[K"), "{text:?}");
        }
        Err(error) => assert!(std::env::var_os("CI").is_none(), "`script` makes the terminal: {error}"),
    }
}
