//! A real browser: Chromium, driven by `playwright-core` in Node. What of these is missing is
//! installed, where that can be done.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The version of `playwright-core` that is installed.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
/// The first version of Node that this and the tests run with, and the one that is installed beside
/// an older one, such as that of Debian 12.
const OLDEST_NODE: u32 = 20;
const OWN_NODE: &str = "node@22";
const CHROMIUMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Node, Chromium, and the folder that `playwright-core` is in.
#[derive(Debug)]
pub struct Browser {
    node: PathBuf,
    chromium: PathBuf,
    modules: PathBuf,
}

/// The browser; `None` if it isn't there and can't be installed, which is said on stderr.
///
/// # Panics
///
/// In that case, if `STATEMAP_BROWSER` is `required`: so that nobody takes a skip for a pass.
pub fn browser(target: &Path) -> Option<&'static Browser> {
    static BROWSER: OnceLock<Result<Browser, String>> = OnceLock::new();
    match BROWSER.get_or_init(|| Browser::find(target)) {
        Ok(browser) => Some(browser),
        Err(why) => {
            skip(why);
            None
        }
    }
}

impl Browser {
    fn find(target: &Path) -> Result<Self, String> {
        let node = find_node(target)?;
        let chromium = CHROMIUMS.iter().find_map(|name| program(name));
        let chromium = match env::var_os("CHROMIUM").map(PathBuf::from).or(chromium) {
            Some(chromium) => chromium,
            None => apt("chromium", "chromium")?,
        };
        let folder = target.join("browser");
        let modules = folder.join("node_modules");
        if !modules.join("playwright-core/package.json").exists() {
            npm(&folder, PLAYWRIGHT)?;
        }
        Ok(Self { node, chromium, modules })
    }

    /// Where Node is.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Runs a file of tests in Node, and gives what it printed.
    ///
    /// # Errors
    ///
    /// What it printed, if a test failed or there was none.
    pub fn test(&self, file: &Path, pages: &Path) -> Result<String, String> {
        let mut node = tests_in(&self.node, file, pages);
        node.env("CHROMIUM", &self.chromium);
        node.env("PLAYWRIGHT", self.modules.join("playwright-core"));
        passed(&mut node)
    }
}

/// Runs a file of tests that need no browser in Node, and gives what it printed; `None` if Node isn't
/// there, which is said on stderr.
///
/// # Errors
///
/// What it printed, if a test failed or there was none.
///
/// # Panics
///
/// As [`browser()`] does.
pub fn node(target: &Path, file: &Path, pages: &Path) -> Option<Result<String, String>> {
    match find_node(target) {
        Ok(node) => Some(passed(&mut tests_in(&node, file, pages))),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// A Node that is recent enough: the machine's, or one of the tests' own.
fn find_node(target: &Path) -> Result<PathBuf, String> {
    static NODE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let find = || {
        let there = match program("node") {
            Some(node) => node,
            None => apt("nodejs", "node")?,
        };
        if is_recent(&there) {
            return Ok(there);
        }
        let folder = target.join("node");
        let own = folder.join("node_modules/node/bin/node");
        if !own.exists() {
            npm(&folder, OWN_NODE)?;
        }
        match is_recent(&own) {
            true => Ok(own),
            false => Err(format!("{} is older than {OLDEST_NODE}, or isn't Node", own.display())),
        }
    };
    NODE.get_or_init(find).clone()
}

/// Whether this is a Node that the tests run with: it says `v20.1.0`.
fn is_recent(node: &Path) -> bool {
    let version = run(Command::new(node).arg("--version")).unwrap_or_default();
    let major =
        version.strip_prefix('v').and_then(|version| version.split('.').next()?.parse().ok());
    major.is_some_and(|major: u32| major >= OLDEST_NODE)
}

fn tests_in(node: &Path, file: &Path, pages: &Path) -> Command {
    let mut node = Command::new(node);
    node.args(["--test", "--test-reporter=spec"]).arg(file).env("PAGES", pages);
    node
}

fn passed(node: &mut Command) -> Result<String, String> {
    let printed = run(node)?;
    // An empty run passes, too.
    let passed = printed.lines().find_map(|line| line.split_once("pass ")?.1.trim().parse().ok());
    match passed {
        Some(0) | None => Err(format!("no test ran:\n{printed}")),
        Some::<u32>(_) => Ok(printed),
    }
}

/// Says that the page was not tried, or fails where it must be.
fn skip(why: &str) {
    assert!(
        env::var_os("STATEMAP_BROWSER").is_none_or(|value| value != "required"),
        "no browser: {why}"
    );
    // Not `eprintln!`: the test harness keeps that to itself when a test passes.
    let _ = writeln!(io::stderr(), "SKIPPED, the page was not tried in a browser: {why}");
}

/// Installs a package of npm's into a folder.
fn npm(folder: &Path, package: &str) -> Result<(), String> {
    if program("npm").is_none() {
        apt("npm", "npm")?;
    }
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund"]);
    run(npm.arg("--prefix").arg(folder).arg(package).current_dir(folder)).map(drop)
}

/// Where a program is.
fn program(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// Installs a package of Debian.
fn apt(package: &str, name: &str) -> Result<PathBuf, String> {
    let missing = |why: &str| format!("{name} is missing, and apt-get can't install it: {why}");
    if program("apt-get").is_none() {
        return Err(missing("there is no apt-get"));
    }
    let mut update = Command::new("apt-get");
    // An old list of packages may still do.
    let _ = run(update.arg("update"));
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends", package]);
    run(install.env("DEBIAN_FRONTEND", "noninteractive")).map_err(|error| missing(&error))?;
    program(name).ok_or_else(|| missing("it is not there afterwards"))
}

/// Runs a command to its end, and gives what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } =
        command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() {
        return Ok(printed);
    }
    Err(format!("{command:?}: {status}\n{printed}\n{}", String::from_utf8_lossy(&stderr)))
}
