//! A real browser: the machine's own Chromium, Chrome or Edge, driven by `playwright-core` in Node.
//!
//! Nothing is installed. Tests for which a tool is missing are left out, and [`left_out`] prints
//! what to do about it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::left_out::left_out;

/// The first version of Node that this and the tests run with.
const OLDEST_NODE: u32 = 20;
/// What Chromium and its kin are called in `PATH`.
const BROWSERS: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
];
/// Where they are on systems that don't put them into `PATH`.
const INSTALLED: [&str; 5] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
];

/// Node, a browser, and the folder that `playwright-core` is in.
#[derive(Debug)]
pub struct Browser {
    node: PathBuf,
    browser: PathBuf,
    playwright: PathBuf,
    axe: Result<PathBuf, String>,
}

/// The browser; `None` if there is none, or nothing to drive it with. `target` is cargo's folder for
/// what tests leave.
///
/// # Panics
///
/// As [`left_out`] does, and if `STATEMAP_BROWSER` names no file.
pub fn browser(target: &Path) -> Option<&'static Browser> {
    static BROWSER: OnceLock<Result<Browser, String>> = OnceLock::new();
    match BROWSER.get_or_init(|| Browser::find(target)) {
        Ok(browser) => Some(browser),
        Err(why) => {
            left_out("the page and the SVG in a browser", why);
            None
        }
    }
}

impl Browser {
    fn find(target: &Path) -> Result<Self, String> {
        let node = find_node()?;
        let browser = find_browser()?;
        let folder = target.join("browser");
        let playwright = folder.join("node_modules/playwright-core");
        if !playwright.join("package.json").exists() {
            return Err(not_installed("playwright-core", &folder));
        }
        let axe = Path::new("node_modules/axe-core");
        let axe = match folder.join(axe).join("package.json").exists() {
            true => Ok(folder.join(axe)),
            false => Err(not_installed("axe-core", &folder)),
        };
        Ok(Self { node, browser, playwright, axe })
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
        node.env("STATEMAP_BROWSER", &self.browser).env("PLAYWRIGHT", &self.playwright);
        if let Ok(axe) = &self.axe {
            node.env("AXE", axe);
        }
        passed(&mut node)
    }

    /// Whether there is axe-core: tests that need it find it in the folder that `AXE` names.
    ///
    /// # Panics
    ///
    /// As [`left_out`] does.
    pub fn has_axe(&self) -> bool {
        match &self.axe {
            Ok(_) => true,
            Err(why) => {
                left_out("whether the page is accessible", why);
                false
            }
        }
    }
}

/// Runs a file of tests that need no browser in Node, and gives what it printed; `None` if there is
/// no Node.
///
/// # Errors
///
/// What it printed, if a test failed or there was none.
///
/// # Panics
///
/// As [`left_out`] does.
pub fn node(file: &Path, pages: &Path) -> Option<Result<String, String>> {
    match find_node() {
        Ok(node) => Some(passed(&mut tests_in(&node, file, pages))),
        Err(why) => {
            left_out("the page's script", &why);
            None
        }
    }
}

/// A Node that is recent enough.
fn find_node() -> Result<PathBuf, String> {
    static NODE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let find = || {
        let node = program("node").ok_or_else(|| "there is no `node` in PATH".to_owned());
        let node = node.and_then(|node| match version(&node) {
            Some(OLDEST_NODE..) => Ok(node),
            _ => Err(format!("{} is older than Node {OLDEST_NODE}", node.display())),
        });
        node.map_err(|why| format!("{why}; install Node {OLDEST_NODE} or later"))
    };
    NODE.get_or_init(find).clone()
}

/// The major version of a Node: it prints `v20.1.0`.
fn version(node: &Path) -> Option<u32> {
    let printed = run(Command::new(node).arg("--version")).ok()?;
    printed.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// What `STATEMAP_BROWSER` names; else what is found.
fn find_browser() -> Result<PathBuf, String> {
    if let Some(path) = env::var_os("STATEMAP_BROWSER").map(PathBuf::from) {
        assert!(path.is_file(), "STATEMAP_BROWSER={}: there is no such file", path.display());
        return Ok(path);
    }
    let installed = || INSTALLED.iter().map(PathBuf::from).find(|path| path.is_file());
    BROWSERS.iter().find_map(|name| program(name)).or_else(installed).ok_or_else(|| {
        "there is no Chromium, Chrome or Edge; install one, or set STATEMAP_BROWSER to its path"
            .to_owned()
    })
}

/// What is said of a package that isn't in `folder`.
fn not_installed(package: &str, folder: &Path) -> String {
    let manifest: serde_json::Value =
        serde_json::from_str(include_str!("../page/package.json")).expect("it is JSON");
    let version = manifest["devDependencies"][package].as_str().expect("its version");
    let folder = folder.display();
    format!(
        "there is no {package}; `npm install --prefix {folder} {package}@{version}` installs it"
    )
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

/// Where a program is.
fn program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&file)).find(|p| p.is_file())
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
