//! A cargo workspace made of cases.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::{Case, Diagnostic, Kind, in_parallel};

/// The dependencies of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// Tokio, with the features that the cases need.
    Tokio,
    /// Tokio as above, and tokio-statemap with all features that the keys need but `recover`, which reads data: that takes
    /// crates that make lines of programs ambiguous.
    Recording,
    /// Tokio as above, and tokio-statemap without its feature `html`.
    WithoutHtml,
    /// Tokio as above, and tokio-statemap with only the feature `record`. (`stacks`, which no picture
    /// needs, takes as long to compile as everything else.)
    RecordAlone,
    /// Tokio as above, and tokio-statemap without its default features.
    Off,
    /// Only tokio-statemap with its defaults.
    OnlyRecording,
    /// Only Tokio, with the features that tokio-statemap enables.
    OnlyTokio,
    /// Only the crate `async-trait`.
    AsyncTraitAlone,
    /// Like `Tokio`, and the crate `async-trait`.
    AsyncTrait,
    /// Like `Recording`, and the crate `async-trait`.
    AsyncTraitRecording,
    /// Like `Off`, and the crate `async-trait`.
    AsyncTraitOff,
}

impl Dependencies {
    fn manifest(self) -> String {
        let tokio = r#"tokio = { version = "1.54", features = ["rt", "rt-multi-thread", "macros", "time", "test-util"] }"#;
        let only = r#"tokio = { version = "1.54", features = ["rt", "rt-multi-thread", "macros", "schedule-latency"] }"#;
        let async_trait = r#"async-trait = "0.1""#;
        let library = root().join("tokio-statemap");
        let ours = |rest: &str| format!("tokio-statemap = {{ path = {library:?}{rest} }}");
        match self {
            Self::Tokio => tokio.to_owned(),
            Self::Recording => format!("{tokio}\n{}", ours(r#", features = ["svg", "black-box"]"#)),
            Self::WithoutHtml => {
                let features = r#", default-features = false, features = ["record", "stacks"]"#;
                format!("{tokio}\n{}", ours(features))
            }
            Self::RecordAlone => {
                let features = r#", default-features = false, features = ["record"]"#;
                format!("{tokio}\n{}", ours(features))
            }
            Self::Off => format!("{tokio}\n{}", ours(", default-features = false")),
            Self::OnlyRecording => ours(""),
            Self::OnlyTokio => only.to_owned(),
            Self::AsyncTraitAlone => async_trait.to_owned(),
            Self::AsyncTrait => format!("{}\n{async_trait}", Self::Tokio.manifest()),
            Self::AsyncTraitRecording => format!("{}\n{async_trait}", Self::Recording.manifest()),
            Self::AsyncTraitOff => format!("{}\n{async_trait}", Self::Off.manifest()),
        }
    }
}

/// A package of cases of one edition and kind.
#[derive(Debug)]
pub struct Package {
    /// The name, which prefixes those of its cases.
    pub name: String,
    /// The dependencies.
    pub dependencies: Dependencies,
    /// Its cases.
    pub cases: Vec<Case>,
}

impl Package {
    /// Groups cases of any edition and kind into packages.
    pub fn group(name: &str, dependencies: Dependencies, cases: &[Case]) -> Vec<Self> {
        let mut packages = BTreeMap::<String, Vec<Case>>::new();
        for case in cases {
            // Cargo builds no test of a package if a program doesn't build, so tests are separate.
            let kind = match case.kind {
                Kind::Bin => "bins",
                Kind::Test => "tests",
            };
            packages
                .entry(format!("{name}-{}-{kind}", case.edition))
                .or_default()
                .push(case.clone());
        }
        packages.into_iter().map(|(name, cases)| Self { name, dependencies, cases }).collect()
    }

    fn write(&self, folder: &Path) {
        let edition = self.cases.first().map_or("2024", |case| &case.edition);
        let mut manifest = format!(
            "[package]\nname = {:?}\nversion = \"0.0.0\"\nedition = {edition:?}\n\
             autobins = false\nautotests = false\n\n\
             [lib]\ntest = false\n\n[dependencies]\n{}\n",
            self.name,
            self.dependencies.manifest(),
        );
        write_if_changed(&folder.join("src/lib.rs"), "");
        for case in &self.cases {
            let target = self.target(case);
            let (kind, rest) = match case.kind {
                Kind::Bin => ("bin", "test = false\n"),
                Kind::Test => ("test", ""),
            };
            write!(
                manifest,
                "\n[[{kind}]]\nname = {target:?}\npath = \"src/{}.rs\"\n{rest}",
                case.name
            )
            .expect("a String takes all");
            write_if_changed(&folder.join(format!("src/{}.rs", case.name)), &case.source);
        }
        write_if_changed(&folder.join("Cargo.toml"), &manifest);
    }

    fn target(&self, case: &Case) -> String {
        format!("{}-{}", self.name, case.name)
    }
}

/// A workspace in the target folder.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    target: PathBuf,
    packages: Vec<Package>,
}

/// The result of building a case.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The diagnostics of rustc, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// `true` if it compiles.
    pub compiles: bool,
    /// The program, if it was built.
    pub program: Option<PathBuf>,
}

impl Built {
    /// Returns the diagnostics as in golden files. Only our messages are included, as the wording
    /// of rustc's, which have a code, varies between versions.
    pub fn golden(&self) -> String {
        let mut text = String::new();
        for mut diagnostic in self.diagnostics.iter().cloned() {
            if diagnostic.code.is_some() {
                diagnostic.message = "(rustc's)".to_owned();
            }
            writeln!(text, "{diagnostic}").expect("a String takes all");
        }
        text
    }

    /// Returns the diagnostics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for diagnostic in &self.diagnostics {
            writeln!(text, "{diagnostic}").expect("a String takes all");
        }
        text
    }
}

impl Project {
    /// Creates the workspace `name` in `tmp`, which is `env!("CARGO_TARGET_TMPDIR")` of the test.
    pub fn new(tmp: &str, name: &str, packages: Vec<Package>) -> Self {
        let folder = Path::new(tmp).join("ui").join(name);
        // An additional package has the dependencies that only some cases have. Shared dependencies
        // then have the same features in all workspaces and are compiled once.
        let shared = Package {
            name: "shared".to_owned(),
            dependencies: Dependencies::AsyncTraitAlone,
            cases: Vec::new(),
        };
        let members: Vec<&str> =
            packages.iter().chain([&shared]).map(|package| &*package.name).collect();
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n\
             [profile.dev]\ndebug = false\nincremental = false\n"
        );
        write_if_changed(&folder.join("Cargo.toml"), &manifest);
        for package in packages.iter().chain([&shared]) {
            package.write(&folder.join(&package.name));
        }

        // The versions are those of this workspace. Cargo adds the packages to the copy, so another
        // copy is kept to detect changes.
        let lock = fs::read_to_string(root().join("Cargo.lock")).expect("there is a Cargo.lock");
        if write_if_changed(&folder.join("Cargo.lock.workspace"), &lock) {
            fs::write(folder.join("Cargo.lock"), &lock).expect("the lock file can be written");
        }

        Self {
            folder,
            // All share a folder, so that Tokio is compiled once.
            target: Path::new(tmp).join("ui").join("target"),
            packages,
        }
    }

    /// Returns a cargo command in the workspace.
    pub fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo
            .arg(subcommand)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cfg tokio_unstable")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("CARGO_TERM_COLOR", "never");
        cargo
    }

    /// Builds all cases. The result of each is found under its package's given name (without
    /// edition and kind) and its own.
    ///
    /// # Panics
    ///
    /// Panics if a dependency of the cases doesn't build.
    pub fn build(&self) -> BTreeMap<String, Built> {
        let mut build = self.cargo("build");
        build.args(["--workspace", "--bins", "--tests", "--keep-going"]);
        self.messages(build)
    }

    /// Checks all cases without building programs, and returns rustc's diagnostics of each.
    ///
    /// # Panics
    ///
    /// Panics if a dependency of the cases doesn't compile.
    pub fn check(&self) -> BTreeMap<String, Built> {
        let mut check = self.cargo("check");
        check.args(["--workspace", "--bins", "--tests", "--keep-going"]);
        self.messages(check)
    }

    /// Runs clippy on all cases and returns its diagnostics of each. It isn't run by cargo, which
    /// would compile all libraries again.
    ///
    /// # Panics
    ///
    /// Panics if a library of the workspace doesn't build, or if clippy finds nothing in any case,
    /// as if it had not run.
    pub fn clippy(&self) -> BTreeMap<String, Built> {
        let libraries = self.libraries();
        let cases: Vec<(&Package, &Case)> = self
            .packages
            .iter()
            .flat_map(|package| package.cases.iter().map(move |case| (package, case)))
            .collect();
        let built: BTreeMap<String, Built> = in_parallel(&cases, |(package, case)| {
            let file = self.folder.join(&package.name).join(format!("src/{}.rs", case.name));
            let mut clippy = compiler("clippy-driver".into(), &libraries, case, &file);
            let out = self.folder.join("clippy");
            clippy.args(["--error-format=json", "--emit=metadata", "--out-dir"]).arg(out);
            let output = clippy.output().expect("clippy can be run");
            let stderr = String::from_utf8_lossy(&output.stderr);
            let mut diagnostics: Vec<Diagnostic> = stderr
                .lines()
                .map(|line| serde_json::from_str(line).expect("clippy writes JSON"))
                .filter(|message: &Value| message["$message_type"] == "diagnostic")
                .filter_map(|message| Diagnostic::parse(&message))
                .collect();
            diagnostics.sort();
            let compiles = output.status.success();
            (package.target(case), Built { diagnostics, compiles, program: None })
        })
        .into_iter()
        .collect();
        let mut found = built.values().flat_map(|built| &built.diagnostics);
        let is_clippys =
            |found: &Diagnostic| found.code.as_ref().is_some_and(|code| code.starts_with("clippy"));
        assert!(found.any(is_clippys), "clippy found nothing");
        built
    }

    /// Returns the files of the libraries that the cases may name, by crate name.
    ///
    /// # Panics
    ///
    /// Panics if they don't build.
    pub fn libraries(&self) -> BTreeMap<String, PathBuf> {
        // The cases themselves are not built.
        let mut build = self.cargo("build");
        build.args(["--workspace", "--lib", "--message-format=json"]);
        let output = build.output().expect("cargo can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["reason"] == "compiler-artifact")
            .filter_map(|message| {
                let name = message["target"]["name"].as_str()?.to_owned();
                let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str);
                let ends = [".rlib", ".so", ".dylib", ".dll"];
                let library = files.find(|file| ends.iter().any(|end| file.ends_with(end)))?;
                matches!(&*name, "tokio" | "tokio_statemap" | "async_trait")
                    .then(|| (name, library.into()))
            })
            .collect()
    }

    fn messages(&self, mut cargo: Command) -> BTreeMap<String, Built> {
        let output = cargo.arg("--message-format=json").output().expect("cargo can be run");
        let mut built = BTreeMap::new();
        for package in &self.packages {
            for case in &package.cases {
                built.insert(package.target(case), Built::default());
            }
        }
        let mut elsewhere = String::new();
        let stdout = String::from_utf8_lossy(&output.stdout);
        for line in stdout.lines().filter(|line| line.starts_with('{')) {
            let message: Value = serde_json::from_str(line).expect("cargo writes JSON");
            let target = message["target"]["name"].as_str().unwrap_or_default();
            match message["reason"].as_str() {
                Some("compiler-message") => {
                    let Some(mut diagnostic) = Diagnostic::parse(&message["message"]) else {
                        continue;
                    };
                    if let Some(built) = built.get_mut(target) {
                        // The crate's name is removed, as it differs between twins.
                        diagnostic.message =
                            diagnostic.message.replace(&target.replace('-', "_"), "case");
                        built.diagnostics.push(diagnostic);
                    } else {
                        writeln!(elsewhere, "{target}: {diagnostic}").expect("a String takes all");
                    }
                }
                Some("compiler-artifact") => {
                    if let Some(built) = built.get_mut(target) {
                        built.compiles = true;
                        built.program = message["executable"].as_str().map(PathBuf::from);
                    }
                }
                _ => {}
            }
        }
        let nothing = built.values().all(|built| built.diagnostics.is_empty() && !built.compiles);
        let built_at_all = output.status.success() || !nothing;
        assert!(
            built_at_all && !elsewhere.contains(": error"),
            "the cases' dependencies don't build:\n{elsewhere}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        for built in built.values_mut() {
            built.diagnostics.sort();
        }
        built
    }

    /// Returns the name under which [`Self::build`] has a case of the packages named `name`.
    pub fn target(&self, name: &str, case: &Case) -> String {
        let package = self
            .packages
            .iter()
            .find(|package| {
                package.name.starts_with(&format!("{name}-"))
                    && package.cases.iter().any(|other| other.name == case.name)
            })
            .unwrap_or_else(|| panic!("{name} has no case {}", case.name));
        package.target(case)
    }

    /// The workspace's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the names and versions of all packages that `package` depends on, without itself.
    pub fn tree(&self, package: &str) -> Vec<String> {
        let output = self
            .cargo("tree")
            .args(["-p", package, "-e", "normal", "--prefix", "none"])
            .output()
            .expect("cargo can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut packages: Vec<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .skip(1)
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty())
            .collect();
        packages.sort();
        packages.dedup();
        packages
    }

    /// Returns the packages whose code is linked into a program of `package`, with their folders:
    /// its dependencies without those that only run during the build.
    pub fn linked(&self, package: &str) -> BTreeMap<String, PathBuf> {
        let output = self
            .cargo("metadata")
            .args(["--format-version", "1", "--filter-platform", &host()])
            .output()
            .expect("cargo can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
        let by_id = |list: &Value| -> BTreeMap<String, Value> {
            let list = list.as_array().into_iter().flatten();
            list.map(|each| (each["id"].as_str().unwrap_or_default().to_owned(), each.clone()))
                .collect()
        };
        let (packages, nodes) =
            (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
        let root = packages.iter().find(|(_, found)| found["name"] == package);
        let mut ids = vec![root.expect("the package is in the workspace").0.clone()];
        let mut linked = BTreeMap::new();
        while let Some(id) = ids.pop() {
            for dependency in nodes[&id]["deps"].as_array().into_iter().flatten() {
                let id = dependency["pkg"].as_str().unwrap_or_default();
                let kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
                let found = &packages[id];
                let is_macro = found["targets"][0]["kind"][0] == "proc-macro";
                if is_macro || !kinds.into_iter().any(|kind| kind["kind"].is_null()) {
                    continue;
                }
                let name = found["name"].as_str().unwrap_or_default().to_owned();
                let manifest = Path::new(found["manifest_path"].as_str().unwrap_or_default());
                let folder = manifest.parent().expect("a manifest is in a folder").to_owned();
                if linked.insert(name, folder).is_none() {
                    ids.push(id.to_owned());
                }
            }
        }
        linked
    }
}

/// Returns a call of rustc, or of a tool with the same arguments, for a case in `file`.
pub fn compiler(
    program: OsString,
    libraries: &BTreeMap<String, PathBuf>,
    case: &Case,
    file: &Path,
) -> Command {
    let mut compiler = Command::new(program);
    compiler
        .args(["--crate-name=case", "--crate-type=bin", "--cfg=tokio_unstable", "--edition"])
        .arg(&case.edition)
        .arg(file);
    if case.kind == Kind::Test {
        compiler.arg("--test");
    }
    for (name, library) in libraries {
        let folder = library.parent().expect("a file is in a folder");
        compiler
            .arg("--extern")
            .arg(format!("{name}={}", library.display()))
            .arg("-L")
            .arg(format!("dependency={}", folder.join("deps").display()))
            .arg("-L")
            .arg(format!("dependency={}", folder.display()));
    }
    compiler
}

/// Returns rustc's name of the host.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(rustc).arg("-vV").output().expect("rustc can be run");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc tells its host").to_owned()
}

/// Returns the workspace's folder, without `..`: the path must be the same as cargo's.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("ui-tests is in the workspace's folder")
}

/// Writes the file only if its content changed, as cargo compares modification times. Returns
/// `true` if it did.
fn write_if_changed(path: &Path, content: &str) -> bool {
    if fs::read_to_string(path).is_ok_and(|old| old == content) {
        return false;
    }
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder).expect("a folder can be made");
    fs::write(path, content).unwrap_or_else(|err| panic!("{path:?}: {err}"));
    true
}
