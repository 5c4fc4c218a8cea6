//! Ways to make the same calls, compared batch by batch in one process.

use std::time::Instant;

const ROUNDS: usize = 200; // of a batch each

/// The calls of a batch, and after how many of them the stream is waited for.
pub struct Size {
    pub calls: usize,
    pub per_wait: usize,
}

pub const QUERIES: Size = Size { calls: 20_000, per_wait: 20_000 };
pub const LAUNCHES: Size = Size { calls: 2560, per_wait: 256 };

/// A way to make a call, by name; the first one is that of the C ABI.
pub type Way<'a, B> = (&'a str, fn(&mut B) -> bool);

/// Nanoseconds for each of the calls.
fn batch<B>(bench: &mut B, size: &Size, call: fn(&mut B) -> bool, wait: fn(&mut B) -> bool) -> f64 {
    let start = Instant::now();
    let mut succeeded = true;
    for number in 1..=size.calls {
        succeeded &= call(bench);
        if number % size.per_wait == 0 {
            succeeded &= wait(bench);
        }
    }
    assert!(succeeded, "a call failed");
    start.elapsed().as_nanos() as f64 / size.calls as f64
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn report(metric: &str, values: Vec<f64>) {
    println!("{{\"metric\": \"{metric}\", \"unit\": \"ns\", \"value\": {:.3}}}", median(values));
}

/// Batches of all ways in turn, each round from another one on. Reports the median of the time in C
/// and of what each other way adds to it in the same round.
pub fn compare<B, const N: usize>(
    bench: &mut B,
    metric: &str,
    size: &Size,
    ways: [Way<'_, B>; N],
    wait: fn(&mut B) -> bool,
) {
    let mut rounds: Vec<[f64; N]> = Vec::new();
    for round in 0..=ROUNDS {
        let mut times = [0.0; N];
        for turn in 0..N {
            let index = (round + turn) % N;
            times[index] = batch(bench, size, ways[index].1, wait);
        }
        if round > 0 {
            rounds.push(times);
        }
    }
    report(&format!("{metric}_{}", ways[0].0), rounds.iter().map(|times| times[0]).collect());
    for (index, (name, ..)) in ways.iter().enumerate().skip(1) {
        let added = rounds.iter().map(|times| times[index] - times[0]).collect();
        report(&format!("{metric}_{name}_over_c"), added);
    }
}
