//! The palette of the page, the SVG and the report on a terminal.
//!
//! Each colour has a value for light and one for dark screens, and a system colour for screens whose user
//! forces colours. Tests hold its promises: text has a contrast of 4.5 : 1 with each of its backgrounds, and
//! a state of 3 : 1 with the paper; adjacent states can be distinguished with colour-blind eyes and in
//! greyscale; running is the most conspicuous state, waiting the least.

#[cfg(any(feature = "html", feature = "svg", test))]
mod css;
#[cfg(test)]
mod tests;

use std::fmt;

#[cfg(feature = "svg")]
use crate::analysis::picture::Role;

#[cfg(feature = "html")]
pub(crate) use css::properties;
#[cfg(any(feature = "svg", test))]
pub(crate) use css::{fill, fill_again};

/// An opaque colour, as `0xRRGGBB`. Its `Display` is `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u32);

impl Rgb {
    /// Returns red, green and blue.
    pub(crate) const fn channels(self) -> [u8; 3] {
        [(self.0 >> 16) as u8, (self.0 >> 8) as u8, self.0 as u8]
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", self.0)
    }
}

/// A kind of screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Light,
    Dark,
    /// The user has chosen a few colours for everything.
    Forced,
}

/// A colour on each kind of screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour {
    /// The name in style sheets, without the dashes.
    pub(crate) name: &'static str,
    pub(crate) light: Rgb,
    pub(crate) dark: Rgb,
    /// The system colour of CSS in its place; `None` if the colour stays.
    pub(crate) forced: Option<&'static str>,
}

const fn colour(name: &'static str, light: u32, dark: u32, forced: &'static str) -> Colour {
    Colour { name, light: Rgb(light), dark: Rgb(dark), forced: Some(forced) }
}

/// Returns one of the many colours without a system colour.
const fn other(name: &'static str, light: u32, dark: u32) -> Colour {
    Colour { name, light: Rgb(light), dark: Rgb(dark), forced: None }
}

impl Colour {
    /// Returns the colour on `screen` in CSS.
    pub(crate) fn on(&self, screen: Screen) -> String {
        match (screen, self.forced) {
            (Screen::Forced, Some(system)) => system.to_owned(),
            (Screen::Dark, _) => self.dark.to_string(),
            (Screen::Light | Screen::Forced, _) => self.light.to_string(),
        }
    }
}

/// Waiting and parked are calm, so that running catches the eye.
pub(crate) const WAITING: Colour = colour("state-waiting", 0x9191b3, 0x676278, "GrayText");
pub(crate) const RUNNING: Colour = colour("state-running", 0xdc267f, 0xff5aa0, "Highlight");
pub(crate) const READY: Colour = colour("state-ready", 0x8f4a00, 0xffb000, "LinkText");
pub(crate) const SPAWNED: Colour = colour("state-spawned", 0x123f77, 0x5c79d6, "CanvasText");
pub(crate) const PARKED: Colour = Colour { name: "state-parked", ..WAITING };
pub(crate) const AWAKE: Colour = colour("state-awake", 0x2f5740, 0x4b8b5a, "CanvasText");
pub(crate) const BLOCKING: Colour = Colour { name: "state-blocking", ..WAITING };

/// Returns the colour of a known state. `None` for states of other data, and for the end of a row.
#[cfg(feature = "svg")]
pub(crate) const fn of_role(role: Role) -> Option<Colour> {
    match role {
        Role::Waiting => Some(WAITING),
        Role::Running => Some(RUNNING),
        Role::Ready => Some(READY),
        Role::Spawned => Some(SPAWNED),
        Role::Parked => Some(PARKED),
        Role::Awake => Some(AWAKE),
        Role::Blocking => Some(BLOCKING),
        Role::Completed | Role::Stopped | Role::Other => None,
    }
}

/// The colours of states, which are bars and areas.
pub(crate) const STATES: [Colour; 7] = [WAITING, RUNNING, READY, SPAWNED, PARKED, AWAKE, BLOCKING];

/// The colours of other data's states that have none of their own.
pub(crate) const OTHERS: [Colour; 8] = [
    other("other-0", 0x508ff9, 0x699ef5),
    other("other-1", 0x402712, 0xf9e03f),
    other("other-2", 0x23690d, 0x9ed691),
    other("other-3", 0xb58a3a, 0xd9a02c),
    other("other-4", 0x831169, 0xab3d8d),
    other("other-5", 0x4b81a5, 0x7af4fb),
    other("other-6", 0x7f51c1, 0x2c6acf),
    other("other-7", 0x5e2b9a, 0x5c6c14),
];

/// The colours of waiting by line; the last one is for all other lines. Nine colours can't be far from each other for
/// all eyes, but none is near running, ready or spawned, and the first ones are the farthest apart.
pub(crate) const LINES: [Colour; 9] = [
    other("at-line-0", 0x508ff9, 0x7af4fb),
    other("at-line-1", 0x3b2b0d, 0x906606),
    other("at-line-2", 0xb58a3a, 0xa9b0fd),
    other("at-line-3", 0x7f51c1, 0xd4e995),
    other("at-line-4", 0x4b81a5, 0x889e2a),
    other("at-line-5", 0x64424c, 0x3f6c6e),
    other("at-line-6", 0x357153, 0xd5c1a0),
    other("at-line-7", 0x62074e, 0x29a1c1),
    other("at-line-8", 0x857b41, 0xb84999),
];

/// The colours of everything else.
pub(crate) const REST: [Colour; 32] = [
    // Backgrounds.
    colour("paper", 0xffffff, 0x16161a, "Canvas"),
    colour("raised", 0xf7f7f8, 0x1d1d22, "Canvas"),
    colour("sunk", 0xf0f0f2, 0x232329, "Canvas"),
    colour("accent-soft", 0xfdeaf3, 0x3a1529, "Canvas"),
    colour("warn-soft", 0xfff4d8, 0x3a2f12, "Canvas"),
    colour("summed", 0xeceef2, 0x22242a, "Canvas"),
    // Text.
    colour("ink", 0x1b1b1f, 0xececf1, "CanvasText"),
    colour("quiet", 0x5a5c66, 0xa9abb6, "CanvasText"),
    colour("faint", 0x686a74, 0x9799a5, "CanvasText"),
    colour("accent", 0xa5135a, 0xff7ab8, "CanvasText"),
    colour("warn-ink", 0x6a4a00, 0xf3d38a, "CanvasText"),
    colour("focus", 0x1f5fd0, 0x7fb0ff, "Highlight"),
    // Lines.
    colour("line", 0xe2e2e7, 0x2c2c34, "GrayText"),
    colour("line-strong", 0xc9c9d1, 0x44444f, "GrayText"),
    colour("hatch", 0xb9b9c4, 0x4a4a56, "GrayText"),
    // Marks on states or in their place.
    colour("mark", 0x7a0b42, 0xffd0e6, "CanvasText"),
    colour("select", 0x111114, 0xffffff, "CanvasText"),
    colour("dimmed", 0xe2e2e2, 0x32323a, "Canvas"),
    colour("summed-bar", 0xb8487f, 0xb0608a, "Highlight"),
    // The parts of a poll's time, and the origins of code.
    colour("own", 0xdc267f, 0xdc267f, "Highlight"),
    colour("on-own", 0xffffff, 0xffffff, "HighlightText"),
    colour("cause-blocked", 0x123f77, 0x8fb6ff, "LinkText"),
    colour("taken", 0x767883, 0x8b8d98, "GrayText"),
    colour("dependency", 0xffc9a3, 0x7a4524, "Canvas"),
    colour("std", 0xdfe3e9, 0x3a4048, "Canvas"),
    colour("system", 0xcfd3da, 0x2f343c, "Canvas"),
    colour("blocked", 0xb9d3f7, 0x234a7d, "Canvas"),
    // The bars of the panel.
    colour("bar-held", 0xa5135a, 0xff7ab8, "Highlight"),
    colour("bar-ready", 0x8f4a00, 0xffb000, "LinkText"),
    // Buttons and selections.
    colour("chosen", 0xfdeaf3, 0x3a1529, "Canvas"),
    colour("disabled", 0x8b8d98, 0x7d7f8b, "GrayText"),
    colour("link", 0x1f5fd0, 0x7fb0ff, "LinkText"),
];

/// Returns all colours.
pub(crate) fn all() -> Vec<Colour> {
    let mut all = Vec::new();
    for part in [&STATES[..], &OTHERS, &LINES, &REST] {
        all.extend_from_slice(part);
    }
    all
}
