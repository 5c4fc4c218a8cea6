//! Futures whose end is played here.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use crate::future::{Finished, waiting};
use crate::{Error, Status};

#[derive(Default)]
struct Counter(AtomicUsize);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll(future: &mut Finished, counter: &Arc<Counter>) -> Poll<crate::Result<()>> {
    let waker = Waker::from(Arc::clone(counter));
    pin!(future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn the_task_that_polled_last_is_woken_once() {
    let (mut future, finish) = waiting();
    let (first, second) = (Arc::<Counter>::default(), Arc::<Counter>::default());
    for counter in [&first, &first, &second] {
        assert!(poll(&mut future, counter).is_pending());
    }
    finish(Ok(()));
    assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (0, 1));
    assert!(matches!(poll(&mut future, &first), Poll::Ready(Ok(()))));
    assert!(poll(&mut future, &first).is_pending());
}

#[test]
fn errors_are_given() {
    let (mut future, finish) = waiting();
    finish(Err(Error::new(Status::ERROR_TRAP, "a trap")));
    let counter = Arc::default();
    let Poll::Ready(Err(error)) = poll(&mut future, &counter) else { panic!("it is over") };
    assert_eq!((error.status(), error.message()), (Status::ERROR_TRAP, "a trap"));
}

#[test]
fn a_dropped_future_wakes_nobody() {
    let (mut future, finish) = waiting();
    let counter = Arc::default();
    assert!(poll(&mut future, &counter).is_pending());
    drop(future);
    assert_eq!(Arc::strong_count(&counter), 1);
    finish(Ok(()));
    assert_eq!(counter.0.load(Ordering::Relaxed), 0);
}

#[test]
fn ends_and_polls_and_drops_meet() {
    for turn in 0..20 {
        let (mut future, finish) = waiting();
        let end = thread::spawn(move || finish(Ok(())));
        let counter = Arc::default();
        let is_ready = (0..turn).any(|_| poll(&mut future, &counter).is_ready());
        if turn % 2 == 0 {
            drop(future);
            end.join().unwrap();
        } else {
            end.join().unwrap();
            assert!(is_ready || poll(&mut future, &counter).is_ready());
        }
    }
}
