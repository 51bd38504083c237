//! Checks what a page was made from, beyond what reading it does.

use tokio_statemap::statemap::check::check_ours;
use tokio_statemap::statemap::read::Statemap;
use tokio_statemap::statemap::{Recording, recordings, write_tasks, write_workers};

/// What breaks a rule, if anything does.
///
/// The page of a run has its tasks and its workers: they must be such data as the run writes. Of a part of one only
/// what it is is known.
pub(crate) fn check(files: &[Statemap], is_ours: bool) -> Result<(), String> {
    let of_page = |problem: String| format!("the data in the page: {problem}");
    for recording in recordings(files) {
        match recording {
            Recording::Run { timeline, labels, files: of, .. } => {
                for file in of {
                    let mut data = Vec::new();
                    let is_workers = files[file].metadata.entity_kind.as_deref() == Some("Worker");
                    let written = match is_workers {
                        true => write_workers(&timeline, &labels, &mut data),
                        false => write_tasks(&timeline, &labels, &mut data),
                    };
                    written.map_err(|error| of_page(error.to_string()))?;
                    check_ours(&data[..]).map_err(|error| of_page(error.problem))?;
                }
            }
            Recording::Other { data, .. } => {
                if is_ours {
                    return Err(of_page("this isn't the data of a run".to_owned()));
                }
                if let Some(tag) = data.tags.iter().find(|tag| !tag.is_defined) {
                    let (state, tag) = (tag.state, &tag.tag);
                    return Err(of_page(format!("tag `{tag}` of state {state} has no definition")));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
