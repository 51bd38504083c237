//! What is said of a command line that can't be understood: one line, as of all else that goes wrong.

use std::process::{ExitCode, exit};

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::Args;
use crate::failure::line;

/// The exit status.
const MISUSED: u8 = 2;

/// Says what the parser didn't understand, or prints what was asked for instead of a command.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    let (problem, has_no_command) = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            ("no command is given".to_owned(), true)
        }
        kind => (one_line(&error.render().to_string()), kind == ErrorKind::InvalidSubcommand),
    };
    let problem = match has_no_command {
        true => format!("{problem}; the commands are {}", commands().join(", ")),
        false => problem,
    };
    line(&format!("{problem}; see `{} --help`", given_command()));
    MISUSED.into()
}

/// Ends the program as the parser does where this command was used wrongly.
pub(crate) fn misused(command: &str, problem: &str) -> ! {
    line(&format!("{problem}; see `tokio-statemap {command} --help`"));
    exit(MISUSED.into())
}

/// The parser's message as one line, without what it says of usage.
fn one_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let is_of_problem =
        |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut joined = String::new();
    for line in message.lines().take_while(is_of_problem).map(str::trim) {
        let (before, line) = match line.strip_prefix("tip: ") {
            // That is for names of files that begin so.
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

/// The names of the commands.
fn commands() -> Vec<String> {
    let args = Args::command();
    args.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// The command line up to its command, if that is one.
fn given_command() -> String {
    let commands = commands();
    let given = std::env::args_os().nth(1).and_then(|given| given.into_string().ok());
    match given.filter(|given| commands.contains(given)) {
        Some(command) => format!("tokio-statemap {command}"),
        None => "tokio-statemap".to_owned(),
    }
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
