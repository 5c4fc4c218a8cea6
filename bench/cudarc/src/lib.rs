//! What both programs have in common. See ../README.md.

use std::error::Error;
use std::time::Instant;

pub type Outcome = Result<(), Box<dyn Error>>;

/// The bytes of the copies.
pub const COPY: usize = 1024;
/// The rows and columns of the small product.
pub const SIDE: usize = 16;
pub const PTX: &str = include_str!("kernels.ptx");

const BATCHES: usize = 300;
const CALLS: usize = 500;

/// Prints the median of the batches, and the least.
pub fn measure(metric: &str, mut call: impl FnMut() -> Outcome) -> Outcome {
    let mut times = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed().as_nanos() as f64 / CALLS as f64);
    }
    times.sort_by(f64::total_cmp);
    let (median, least) = (times[BATCHES / 2], times[0]);
    println!(
        "{{\"metric\": \"{metric}\", \"unit\": \"ns\", \"value\": {median:.1}, \"least\": {least:.1}}}"
    );
    Ok(())
}
