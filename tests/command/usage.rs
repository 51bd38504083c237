//! The command line: printed text, and output. See `misuse` for errors.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use super::binary::{binary, folder, names_in, run, run_with, tasks, workers};
use super::page::Page;

#[test]
fn help_has_examples_and_they_work() {
    let folder = folder("help");
    // The examples are for longer programs.
    let longer = tasks().replace("\"60000000\"", "\"6000000000\"");
    fs::write(folder.join("tasks.json"), longer).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    for version in ["before", "after"] {
        fs::write(folder.join(format!("{version}.json")), tasks()).unwrap();
        fs::create_dir(folder.join(version)).unwrap();
        fs::write(folder.join(version).join("tasks.json"), tasks()).unwrap();
    }
    run(&folder, "render tasks.json workers.json -o statemap.html").stdout();
    let mut examples = 0;
    for command in ["", "render", "report", "check", "diff", "completions", "man"] {
        let help = run(&folder, &format!("{command} --help")).stdout();
        assert!(help.contains("Examples:\n"), "{help}");
        for line in help.lines() {
            let Some(args) = line.strip_prefix("  tokio-statemap ") else { continue };
            let args = args.split(" > ").next().unwrap();
            run(&folder, args).stdout();
            examples += 1;
        }
    }
    assert!(examples >= 10, "{examples}");
}

#[test]
fn the_manual_page_and_the_completions() {
    let folder = folder("man");
    let page = run(&folder, "man").stdout();
    assert!(page.contains(".TH tokio-statemap 1"), "{page}");
    for part in ["\\-\\-duration", "\\-\\-max\\-size", "Exit status", "completions", "tasks.json"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&folder, &format!("completions {shell}")).stdout();
        assert!(script.contains("tokio-statemap") && script.contains("render"), "{shell}");
    }
}

#[test]
fn standard_input_and_standard_output() {
    let folder = folder("streams");
    let page = run_with(&folder, "render - --format html -o -", tasks().as_bytes()).stdout();
    let page = Page::read(page.as_bytes());
    assert_eq!(page.sections[0].rows.len(), 2);
    let ended = run_with(&folder, "check -", tasks().as_bytes());
    assert_eq!(ended.stdout(), "standard input: ok, 2 entities, 9 changes of state\n");
    fs::write(folder.join("workers.json"), workers()).unwrap();
    run_with(&folder, "render workers.json - -o both.html", tasks().as_bytes()).stdout();
    let page = Page::read(&fs::read(folder.join("both.html")).unwrap());
    assert_eq!(page.sections.len(), 2);
    assert_eq!(names_in(&folder), ["both.html", "workers.json"]);
}

#[test]
fn who_has_seen_enough_may_close_the_pipe() {
    let folder = folder("closed");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    for args in [
        "--help",
        "man",
        "completions bash",
        "report tasks.json",
        "check tasks.json",
        "render tasks.json --format html -o -",
    ] {
        let mut child = Command::new(binary())
            .args(args.split(' '))
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{args}");
    }
}

#[test]
fn the_title_is_the_data_s_or_one_s_own() {
    let folder = folder("title");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let title = |args: &str| {
        run(&folder, &format!("render tasks.json workers.json -o out.html{args}")).stdout();
        let page = Page::read(&fs::read(folder.join("out.html")).unwrap());
        page.meta["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title(""), "api");
    assert_eq!(title(" --title </title>&"), "</title>&");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_the_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("link");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("real.html"), "old").unwrap();
    fs::set_permissions(folder.join("real.html"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.html", folder.join("link.html")).unwrap();
    run(&folder, "render tasks.json -o link.html").stdout();
    assert!(folder.join("link.html").is_symlink());
    Page::read(&fs::read(folder.join("real.html")).unwrap());
    let mode = fs::metadata(folder.join("real.html")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(names_in(&folder), ["link.html", "real.html", "tasks.json"]);
}

#[test]
fn the_report_names_who_ran_longest() {
    let folder = folder("report");
    fs::write(folder.join("tasks.json"), tasks()).unwrap();
    fs::write(folder.join("workers.json"), workers()).unwrap();
    let verdict = "Little was held up: one of 2 polls of tasks spawned at src/api.rs:88:20 ran over\n\
                   1 ms. No other task waited meanwhile. The poll took 51.2 ms, on worker-0 at\n\
                   0.001 s.\n\n\
                   60.0 ms recorded: 1 task, 3 polls; 12 events kept, 0 events lost.\n";
    let both = run(&folder, "report tasks.json workers.json").stdout();
    assert!(both.starts_with(verdict), "{both}");
    for line in [
        "worker-0  running 91.4 %, parked  8.6 %",
        "spawned at        tasks  polls    total  longest     p50      p99  latency",
        "src/api.rs:88:20      1      2  51.3 ms  51.2 ms  100 µs  51.2 ms  1.00 ms",
        "0.001 s  51.2 ms  worker-0     0 ns  src/api.rs:88:20",
    ] {
        assert!(both.lines().any(|found| found == line), "{line}\n{both}");
    }
    // The report of one file alone says what is unknown.
    let alone = run(&folder, "report tasks.json").stdout();
    assert!(alone.starts_with(verdict), "{alone}");
    assert!(alone.contains("\nThe workers' file was not read: their shares aren't known.\n"));
    let alone = run(&folder, "report workers.json").stdout();
    let verdict = "No task can be named that held the runtime up: the tasks' file was not read. The\n\
                   workers were busy 91.4 % of the time.\n";
    assert!(alone.starts_with(verdict), "{alone}");
}
