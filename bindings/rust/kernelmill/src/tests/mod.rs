//! Tests of what makes no calls of the library, which miri can run.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod future;
mod launch;
mod texts;
mod view;
