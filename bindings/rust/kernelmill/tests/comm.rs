//! Communicators: each operation between two ranks of this process, and what their errors say.

mod common;

use common::{context, expect_error};
use kernelmill::comm::{self, Comm, CommId, Engine, F8E4m3, Reduction};
use kernelmill::{Context, Result, Slice, Status, Stream};

/// Two ranks, their streams, and two numbers of each: 1, 2 and 11, 12.
struct Ranks {
    comms: Vec<Comm>,
    streams: Vec<Stream>,
    data: Vec<Slice<f32>>,
}

fn ranks() -> Result<Ranks> {
    let contexts: Vec<Context> = vec![context(), context()];
    let comms = Comm::all(&contexts)?;
    let streams = contexts.iter().map(Context::default_stream).collect::<Result<Vec<_>>>()?;
    let data = vec![streams[0].clone_htod(&[1.0, 2.0])?, streams[1].clone_htod(&[11.0, 12.0])?];
    Ok(Ranks { comms, streams, data })
}

impl Ranks {
    /// The content of both ranks' arrays of `len` after an operation.
    fn run(
        &self,
        len: usize,
        operation: impl Fn(&Comm, &Stream, &Slice<f32>, &mut Slice<f32>) -> Result<()>,
    ) -> Result<[Vec<f32>; 2]> {
        let mut out = [self.streams[0].alloc_zeros(len)?, self.streams[1].alloc_zeros(len)?];
        comm::group(|| {
            for (i, to) in out.iter_mut().enumerate() {
                operation(&self.comms[i], &self.streams[i], &self.data[i], to)?;
            }
            Ok(())
        })?;
        Ok([self.streams[0].clone_dtoh(&out[0])?, self.streams[1].clone_dtoh(&out[1])?])
    }
}

#[test]
fn reductions() -> Result<()> {
    let r = ranks()?;
    let got = r.run(2, |c, s, x, y| c.all_reduce(s, x, y, Reduction::Sum))?;
    assert_eq!(got, [vec![12.0, 14.0], vec![12.0, 14.0]]);
    let got = r.run(2, |c, s, x, y| c.all_reduce(s, x, y, Reduction::ScaledSum(0.5)))?;
    assert_eq!(got[1], [6.0, 7.0]);
    let got = r.run(2, |c, s, x, y| c.reduce(s, x, y, Reduction::Max, 1))?;
    assert_eq!(got, [vec![0.0, 0.0], vec![11.0, 12.0]]);
    let got = r.run(1, |c, s, x, y| c.reduce_scatter(s, x, y, Reduction::Average))?;
    assert_eq!(got, [vec![6.0], vec![7.0]]);
    let got = r.run(2, |c, s, x, y| {
        s.memcpy_dtod(x, y)?;
        c.all_reduce_in_place(s, y, Reduction::Product)
    })?;
    assert_eq!(got[0], [11.0, 24.0]);
    let got = r.run(2, |c, s, x, y| c.all_reduce(s, x, y, Reduction::Min))?;
    assert_eq!(got[1], [1.0, 2.0]);
    Ok(())
}

#[test]
fn copies() -> Result<()> {
    let r = ranks()?;
    let got = r.run(2, |c, s, x, y| c.broadcast(s, x, y, 1))?;
    assert_eq!(got[0], [11.0, 12.0]);
    let got = r.run(2, |c, s, x, y| {
        s.memcpy_dtod(x, y)?;
        c.broadcast_in_place(s, y, 0)
    })?;
    assert_eq!(got[1], [1.0, 2.0]);
    let got = r.run(4, |c, s, x, y| c.all_gather(s, x, y))?;
    assert_eq!(got[1], [1.0, 2.0, 11.0, 12.0]);
    let got = r.run(2, |c, s, x, y| {
        s.memcpy_dtod(x, y)?; // the rank's own block is its first or its second number
        c.all_gather_in_place(s, y)
    })?;
    assert_eq!(got, [vec![1.0, 12.0], vec![1.0, 12.0]]);
    let got = r.run(2, |c, s, x, y| c.all_to_all(s, x, y))?;
    assert_eq!(got, [vec![1.0, 11.0], vec![2.0, 12.0]]);
    let got = r.run(4, |c, s, x, y| c.gather(s, x, y, 0))?;
    assert_eq!(got, [vec![1.0, 2.0, 11.0, 12.0], vec![0.0; 4]]);
    let got = r.run(1, |c, s, x, y| c.scatter(s, x, y, 1))?;
    assert_eq!(got, [vec![11.0], vec![12.0]]);
    Ok(())
}

#[test]
fn messages() -> Result<()> {
    let r = ranks()?;
    let got = r.run(2, |c, s, x, y| {
        c.send(s, x, 1 - c.rank())?;
        c.receive(s, y, 1 - c.rank())
    })?;
    assert_eq!(got, [vec![11.0, 12.0], vec![1.0, 2.0]]);
    Ok(())
}

#[test]
fn a_group_that_fails_queues_nothing() -> Result<()> {
    let r = ranks()?;
    let mut to = r.streams[0].alloc_zeros::<f32>(2)?;
    let failed = comm::group(|| {
        r.comms[0].all_reduce(&r.streams[0], &r.data[0], &mut to, Reduction::Sum)?;
        r.streams[0].alloc_zeros::<f32>(usize::MAX / 8)
    });
    assert!(failed.is_err());
    r.streams[0].synchronize()?; // it would wait for rank 1
    let got = r.run(2, |c, s, x, y| c.all_reduce(s, x, y, Reduction::Sum))?;
    assert_eq!(got[0], [12.0, 14.0]);
    Ok(())
}

#[test]
fn what_communicators_say() -> Result<()> {
    let r = ranks()?;
    assert_eq!((r.comms[1].rank(), r.comms[1].rank_count()), (1, 2));
    assert_eq!(r.comms[0].engine(), Engine::Threads);
    assert!(r.comms[0].reason().contains("in this process"));
    let context = context();
    let stream = context.default_stream()?;
    let alone = Comm::new(&context, &CommId::new(&context)?, 1, 0)?;
    assert!(alone.split(-1, 0)?.is_none());
    let part = alone.split(7, 0)?.expect("a part");
    let mut bits = stream.clone_htod(&[F8E4m3(0x38)])?; // 1
    part.all_reduce_in_place(&stream, &mut bits, Reduction::ScaledSum(F8E4m3(0x40)))?; // by 2
    assert_eq!(stream.clone_dtoh(&bits)?, [F8E4m3(0x40)]);
    Ok(())
}

#[test]
fn errors() -> Result<()> {
    let r = ranks()?;
    let (first, stream) = (&r.comms[0], &r.streams[0]);
    let mut short = stream.alloc_zeros::<f32>(1)?;
    let got = first.all_reduce(stream, &r.data[0], &mut short, Reduction::Sum);
    expect_error(got, Status::ERROR_OUT_OF_BOUNDS, "`receive` of the operation needs 2 elements");
    let got = first.all_to_all(stream, &stream.alloc_zeros::<f32>(3)?, &mut short);
    expect_error(got, Status::ERROR_INVALID_ARGUMENT, "3 elements, which are no blocks of 2 ranks");
    let got = first.send(stream, &r.data[0], 9);
    expect_error(got, Status::ERROR_INVALID_ARGUMENT, "peer is 9");
    let got = first.send(&r.streams[1], &r.data[0], 1);
    expect_error(got, Status::ERROR_CONTEXT_MISMATCH, "stream");
    first.status()?;
    r.comms[1].abort()?;
    expect_error(first.status(), Status::ERROR_IO, "rank 1 has aborted the communicator");
    Ok(())
}
