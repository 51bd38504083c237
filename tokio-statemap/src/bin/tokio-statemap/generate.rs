//! `tokio-statemap completions` and `man`.

use std::io;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Args;
use crate::failure::Failure;
use crate::output::print;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tokio-statemap", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints one manual page for all commands, so that readers needn't know in which one something is.
pub(crate) fn man() -> Result<(), Failure> {
    let mut command = Args::command();
    command.build();
    let page = page(&command).map_err(|error| Failure::stdout(&error))?;
    print(&page)
}

fn page(command: &clap::Command) -> io::Result<String> {
    let root = Man::new(command.clone());
    let mut roff = Vec::new();
    root.render_title(&mut roff)?;
    root.render_name_section(&mut roff)?;
    root.render_synopsis_section(&mut roff)?;
    root.render_description_section(&mut roff)?;
    let mut page = String::from_utf8_lossy(&roff).into_owned();
    page.push_str(".SH COMMANDS\n");
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let man = Man::new(command.clone());
        let mut roff = Vec::new();
        man.render_description_section(&mut roff)?;
        man.render_synopsis_section(&mut roff)?;
        man.render_options_section(&mut roff)?;
        man.render_extra_section(&mut roff)?;
        let mut section = String::from_utf8_lossy(&roff).into_owned();
        for head in ["DESCRIPTION", "SYNOPSIS", "OPTIONS", "EXTRA"] {
            section = section.replace(&format!(".SH {head}\n"), ".PP\n");
        }
        page.push_str(&format!(".SS {}\n{section}", command.get_name()));
    }
    let mut roff = Vec::new();
    root.render_extra_section(&mut roff)?;
    root.render_version_section(&mut roff)?;
    page.push_str(&String::from_utf8_lossy(&roff).replace(".SH EXTRA\n", ".SH NOTES\n"));
    Ok(keep_lines(&page))
}

/// Marks examples, which are indented, as preformatted text.
fn keep_lines(page: &str) -> String {
    let mut kept = String::with_capacity(page.len() + 200);
    let mut was_example = false;
    for line in page.lines() {
        let is_example = line.starts_with("  ");
        if is_example != was_example {
            kept.push_str(if is_example { ".nf\n" } else { ".fi\n" });
            was_example = is_example;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}
