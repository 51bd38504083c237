//! The states of tasks and workers: their names, values and colours.
//!
//! The colours are IBM's palette for colour-blind readers, in the order that Bryan Cantrill's
//! statemaps of Tokio use.

/// Declares the states of an entity, one row each: value, name and colour.
macro_rules! states {
    (
        $(#[$doc:meta])* $States:ident
        $($(#[$state_doc:meta])* $State:ident = $value:literal, $name:literal, $colour:literal;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $States {
            $($(#[$state_doc])* $State = $value,)+
        }

        impl $States {
            /// All states, in the order of their values.
            pub const ALL: [Self; [$($value),+].len()] = [$(Self::$State),+];

            /// Returns the name, as in statemap data.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$State => $name,)+
                }
            }

            /// Returns the value, as in statemap data.
            pub const fn value(self) -> u8 {
                self as u8
            }

            /// Returns the colour, as `#RRGGBB`.
            pub const fn colour(self) -> &'static str {
                match self {
                    $(Self::$State => $colour,)+
                }
            }
        }
    };
}

states! {
    /// The state of a task.
    TaskState

    /// From its spawn until its first poll.
    Spawned = 0, "spawned", "#FFB000";
    /// From the start to the end of a poll.
    Running = 1, "running", "#DC267F";
    /// From the end of a poll until it is woken (with `schedule_latency`) or polled (without).
    Waiting = 2, "waiting", "#FE6100";
    /// From its termination on: it completed, panicked or was aborted.
    Completed = 3, "completed", "#648FFF";
    /// From being woken until its next poll. Only recorded with `schedule_latency`.
    Ready = 4, "ready", "#785EF0";
}

states! {
    /// The state of a worker.
    WorkerState

    /// Polling tasks, or looking for a task to poll.
    Running = 0, "running", "#DC267F";
    /// Parked: idle, or waiting for I/O and timers (Tokio polls its driver while parked).
    Parked = 1, "parked", "#FE6100";
    /// Its thread has stopped.
    Stopped = 2, "stopped", "#648FFF";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_the_places_in_all() {
        for (place, state) in TaskState::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(state.value()), place, "{state:?}");
        }
        for (place, state) in WorkerState::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(state.value()), place, "{state:?}");
        }
    }
}
