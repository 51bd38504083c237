//! Errors of the command line: one line each, as all other errors.

use std::process::{ExitCode, exit};

use clap::error::ErrorKind;

use crate::failure::print_line;

/// The exit status.
const MISUSED: u8 = 2;

/// Reports an error of the parser, or prints the help or version that was asked for.
pub(crate) fn refuse(error: &clap::Error, command: &clap::Command) -> ExitCode {
    let commands: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
    let problem = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("no command is given; the commands are {}", commands.join(", "))
        }
        ErrorKind::InvalidSubcommand => {
            let problem = one_line(&error.render().to_string());
            format!("{problem}; the commands are {}", commands.join(", "))
        }
        _ => one_line(&error.render().to_string()),
    };
    let given = std::env::args_os().nth(1).and_then(|given| given.into_string().ok());
    let given = given.filter(|given| commands.contains(&&**given));
    let command = given.map(|command| format!(" {command}")).unwrap_or_default();
    print_line(&format!("{problem}; see `tokio-statemap{command} --help`"));
    MISUSED.into()
}

/// Reports that `command` was used wrongly, and ends the process.
pub(crate) fn misused(command: &str, problem: &str) -> ! {
    print_line(&format!("{problem}; see `tokio-statemap {command} --help`"));
    exit(MISUSED.into())
}

/// Joins the lines of the parser's message, without its hints on usage.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let is_of_problem =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut joined = String::new();
    for line in message.lines().take_while(is_of_problem).map(str::trim) {
        let (before, line) = match line.strip_prefix("tip: ") {
            // This tip is for files whose names begin with a dash.
            Some(tip) if tip.starts_with("to pass ") => continue,
            Some(tip) => ("; ", tip),
            None => (" ", line),
        };
        if !line.is_empty() {
            joined += if joined.is_empty() { "" } else { before };
            joined += line;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_message_of_the_parser_is_one_line() {
        let usage = "\n\nUsage: tokio-statemap render\n\nFor more information, try '--help'.\n";
        for (message, line) in [
            ("error: unexpected argument '--x' found", "unexpected argument '--x' found"),
            (
                "error: the following required arguments were not provided:\n  --output <FILE>",
                "the following required arguments were not provided: --output <FILE>",
            ),
            (
                "error: invalid value 'pdf' for '--format'\n  [possible values: html, svg]\n\n  tip: a \
                 similar value exists: 'x'",
                "invalid value 'pdf' for '--format' [possible values: html, svg]; a similar value \
                 exists: 'x'",
            ),
            (
                "error: unexpected '-x'\n\n  tip: to pass '-x' as a value, use '-- -x'",
                "unexpected '-x'",
            ),
        ] {
            assert_eq!(one_line(&format!("{message}{usage}")), line);
        }
    }
}
