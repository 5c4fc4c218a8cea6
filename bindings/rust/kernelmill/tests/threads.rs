//! Objects are shared by threads, as the C header grants.

mod common;

use std::sync::Arc;
use std::thread;

use common::{context, function};
use kernelmill::{
    Context, Device, Event, Function, LaunchBuilder, LaunchConfig, Module, Pending, PinnedMemory,
    Program, Result, Slice, Stream, View, ViewMut,
};

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn all_objects_are_send_and_sync() {
    is_send_and_sync::<Device>();
    is_send_and_sync::<Context>();
    is_send_and_sync::<Stream>();
    is_send_and_sync::<Event>();
    is_send_and_sync::<Slice<f32>>();
    is_send_and_sync::<View<'static, f32>>();
    is_send_and_sync::<ViewMut<'static, f32>>();
    is_send_and_sync::<PinnedMemory<f32>>();
    is_send_and_sync::<Pending<f32>>();
    is_send_and_sync::<Module>();
    is_send_and_sync::<Function>();
    is_send_and_sync::<Program>();
    is_send_and_sync::<LaunchBuilder<'static>>();
    is_send_and_sync::<kernelmill::Error>();
}

/// Each thread scales data of its own, again and again.
fn work(stream: &Stream, scale: &Function, seed: f32) -> Result<()> {
    for round in 0..50 {
        let host = vec![seed + round as f32; 1000];
        let mut data = stream.clone_htod(&host)?;
        let mut launch = stream.launch_builder(scale);
        launch.arg(&mut data).arg(&2.0f32).arg(&1000i32);
        unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }?;
        assert_eq!(stream.clone_dtoh(&data)?, vec![2.0 * host[0]; 1000]);
    }
    Ok(())
}

#[test]
fn one_context_on_many_threads() -> Result<()> {
    let context = context();
    let scale = function(&context, "scale");
    let shared = context.default_stream()?;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|index| {
                let (context, scale, shared) = (&context, &scale, &shared);
                scope.spawn(move || match index % 2 {
                    0 => work(&context.new_stream()?, scale, index as f32),
                    _ => work(shared, scale, index as f32),
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })
}

#[test]
fn parts_of_a_slice_on_two_threads() -> Result<()> {
    let context = context();
    let mut slice = context.alloc_zeros::<u32>(2000)?;
    let (left, right) = slice.split_at_mut(1000)?;
    thread::scope(|scope| {
        let workers = [(left, 1), (right, 2)].map(|(mut part, value)| {
            let context = &context;
            scope.spawn(move || {
                let stream = context.new_stream()?;
                stream.fill(&mut part, value)?;
                stream.synchronize()
            })
        });
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;
    let host = context.default_stream()?.clone_dtoh(&slice)?;
    assert!(host[..1000].iter().all(|v| *v == 1) && host[1000..].iter().all(|v| *v == 2));
    Ok(())
}

#[test]
fn errors_belong_to_their_threads() {
    let context = Arc::new(context());
    let workers = [0, 1, 2, 3].map(|index| {
        let context = Arc::clone(&context);
        thread::spawn(move || {
            for _ in 0..200 {
                let name = format!("no/such-{index}.cu");
                let error = context.load_file(&name).expect_err("no such file");
                assert!(error.message().contains(&name), "{error}");
            }
        })
    });
    workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
}
