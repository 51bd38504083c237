//! Refuses to record set-uid programs.

use std::sync::Once;

use crate::util::message::warn;

/// Returns `true` if this process has privileges that its caller may lack, and prints one line about it.
///
/// The caller chooses the environment, the working directory, the umask and the descriptors of such a process, and must
/// gain nothing through the files that a recording writes. So such a process isn't recorded at all.
pub(crate) fn refuse_to_record() -> bool {
    static WARNED: Once = Once::new();
    #[cfg(unix)]
    let is_refused = crate::sys::secure::is_set_uid();
    #[cfg(not(unix))]
    let is_refused = false;
    if is_refused {
        WARNED.call_once(|| {
            warn(format_args!(
                "nothing is recorded: this program has privileges that its caller may lack (set-uid, \
                 set-gid or file capabilities)"
            ));
        });
    }
    is_refused
}
