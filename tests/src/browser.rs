//! Runs tests in a real browser: the machine's Chromium, Chrome or Edge, driven by `playwright-core` in Node.
//!
//! Nothing is installed. A test that lacks a tool is left out, and [`left_out`] prints how to get the tool.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::left_out::left_out;

/// The oldest version of Node that can run the tests.
const OLDEST_NODE: u32 = 20;
/// The names of Chromium and its relatives in `PATH`.
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
/// The paths of browsers on systems that don't put them into `PATH`.
const INSTALLED: [&str; 5] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
];

/// The paths of Node, of a browser, and of the packages that drive it.
#[derive(Debug)]
pub struct Browser {
    node: PathBuf,
    browser: PathBuf,
    playwright: PathBuf,
    axe: Result<PathBuf, String>,
}

/// Returns the browser, or `None` if there is none, or nothing to drive it with.
///
/// `target` is cargo's folder for files of tests.
///
/// # Panics
///
/// As [`left_out`], and if `STATEMAP_BROWSER` names no file.
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

    /// Returns the path of Node.
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// Runs a file of tests in Node and returns its output.
    ///
    /// # Errors
    ///
    /// The output, if a test failed or none ran.
    pub fn test(&self, file: &Path, pages: &Path) -> Result<String, String> {
        let mut node = tests_in(&self.node, file, pages);
        node.env("STATEMAP_BROWSER", &self.browser).env("PLAYWRIGHT", &self.playwright);
        if let Ok(axe) = &self.axe {
            node.env("AXE", axe);
        }
        passed(&mut node)
    }

    /// Returns whether axe-core is installed. Tests find it in the folder that `AXE` names.
    ///
    /// # Panics
    ///
    /// As [`left_out`].
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

/// Runs a file of tests that need no browser in Node and returns its output, or `None` if there is no Node.
///
/// # Errors
///
/// The output, if a test failed or none ran.
///
/// # Panics
///
/// As [`left_out`].
pub fn node(file: &Path, pages: &Path) -> Option<Result<String, String>> {
    match find_node() {
        Ok(node) => Some(passed(&mut tests_in(&node, file, pages))),
        Err(why) => {
            left_out("the page's script", &why);
            None
        }
    }
}

/// Finds a Node that is recent enough.
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

/// Returns the major version of a Node, which prints `v20.1.0`.
fn version(node: &Path) -> Option<u32> {
    let printed = run(Command::new(node).arg("--version")).ok()?;
    printed.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Returns the browser that `STATEMAP_BROWSER` names, or else the first one found.
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

/// Returns the message about a package that isn't in `folder`.
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
    // Node passes a run without tests, too.
    let passed = printed.lines().find_map(|line| line.split_once("pass ")?.1.trim().parse().ok());
    match passed {
        Some(0) | None => Err(format!("no test ran:\n{printed}")),
        Some::<u32>(_) => Ok(printed),
    }
}

/// Finds a program in `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&file)).find(|p| p.is_file())
}

/// Runs a command to its end and returns its standard output.
fn run(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } =
        command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() {
        return Ok(printed);
    }
    Err(format!("{command:?}: {status}\n{printed}\n{}", String::from_utf8_lossy(&stderr)))
}
