//! Coming from cudarc: what is the same, what differs, what is not there and why.
//!
#![doc = include_str!("coming_from_cudarc.md")]
