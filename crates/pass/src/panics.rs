//! Panics as values: caught at the edge of a pass, with the place that a hook has noted down.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

/// A panic that was caught.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    /// `file:line:column`, if the hook is installed.
    pub(crate) place: Option<String>,
    /// The backtrace, if the hook is installed and the environment (`RUST_BACKTRACE`) asks for one.
    pub(crate) backtrace: Option<String>,
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<(String, Option<String>)>> = const { RefCell::new(None) };
}

/// Keeps panics inside passes from being printed; they become diagnostics that say where they happened. All other
/// panics go to the hook that was there before. A tool calls this once, when it starts.
pub fn install_panic_hook() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if GUARDED.get() {
            LAST.set(Some(note(info)));
        } else {
            before(info);
        }
    }));
}

fn note(info: &PanicHookInfo<'_>) -> (String, Option<String>) {
    let place = info.location().map_or("an unknown place".to_owned(), ToString::to_string);
    let backtrace = Backtrace::capture();
    let captured = backtrace.status() == BacktraceStatus::Captured;
    (place, captured.then(|| backtrace.to_string()))
}

/// Runs `work`. What it was changing when it panicked may be in any state.
pub(crate) fn guard<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let message = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = message.unwrap_or("a panic without a message").to_owned();
        let (place, backtrace) = LAST.take().unzip();
        Panic { message, place, backtrace: backtrace.flatten() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_values_with_their_place() {
        install_panic_hook();
        assert_eq!(guard(|| 7), Ok(7));
        let line = line!() + 1;
        let caught = guard(|| panic!("number {}", 3)).map(|(): ()| ()).unwrap_err();
        assert_eq!(caught.message, "number 3");
        let place = caught.place.unwrap();
        assert!(place.contains(&format!("panics.rs:{line}:")), "{place}");
        let inner = guard(|| guard(|| panic!("inner")).map(|(): ()| ()).unwrap_err().message);
        assert_eq!(inner, Ok("inner".to_owned()));
        assert!(!GUARDED.get() && LAST.take().is_none());
    }
}
