//! Every call of the safe layer does what the C ABI does.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use common::{context, function, module};
use kernelmill::{
    Category, Device, DeviceAttribute, FunctionAttribute, LaunchConfig, ParamKind, Pod, Program,
    Result, Slice, Status, backends, compile_ptx, version,
};

fn threads(block: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (1, 1, 1), block_dim: (block, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn devices_say_what_they_are() -> Result<()> {
    let device = Device::open("cpu:0")?;
    let info = device.info()?;
    assert_eq!((info.uri.as_str(), info.backend.as_str(), info.ordinal), ("cpu:0", "cpu", 0));
    assert_eq!(info.warp_size, 32);
    assert_eq!(device.attribute(DeviceAttribute::WARP_SIZE)?, 32);
    assert!(Device::count(Some("cpu"))? >= 1 && Device::count(None)? >= 1);
    let cpu = backends()?.into_iter().find(|backend| backend.name == "cpu");
    assert!(cpu.is_some_and(|cpu| cpu.status == Status::SUCCESS && cpu.reason.is_empty()));
    assert!(version()? >= (1, 0, 0));
    let context = device.create_context()?;
    assert_eq!(context.device()?.info()?, info);
    let (free, total) = context.memory_info()?;
    assert!(0 < free && free <= total);
    Ok(())
}

#[test]
fn copies_and_fills() -> Result<()> {
    let stream = context().default_stream()?; // the stream keeps the context
    for len in [0usize, 1, 1000, 100_000] {
        let host: Vec<u32> = (0..len as u32).collect();
        let mut slice = stream.clone_htod(&host)?;
        assert_eq!((slice.len(), slice.is_empty()), (len, len == 0));
        assert_eq!(stream.clone_dtoh(&slice)?, host);
        let mut back = vec![7; len];
        stream.memcpy_dtoh(&stream.clone_dtod(&slice)?, &mut back)?;
        assert_eq!(back, host);
        stream.fill(&mut slice, 9)?;
        assert_eq!(stream.clone_dtoh(&slice)?, vec![9; len]);
        stream.memset_zeros(&mut slice)?;
        assert_eq!(stream.clone_dtoh(&slice)?, vec![0; len]);
    }
    let mut bytes = stream.alloc::<i8>(3)?;
    stream.fill(&mut bytes, -1)?;
    assert_eq!(stream.clone_dtoh(&bytes)?, [-1; 3]);
    let mut shorts = stream.alloc::<u16>(3)?;
    stream.fill(&mut shorts.view_mut(1..)?, 500)?;
    stream.fill(&mut shorts.view_mut(..1)?, 1)?;
    assert_eq!(stream.clone_dtoh(&shorts)?, [1, 500, 500]);
    let mut floats = stream.alloc_zeros::<f32>(2)?;
    stream.fill(&mut floats.view_mut(0..=0)?, -1.5)?;
    assert_eq!(stream.clone_dtoh(&floats)?, [-1.5, 0.0]);
    Ok(())
}

#[test]
fn views_are_parts() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let mut slice = stream.clone_htod(&[0i64, 1, 2, 3, 4, 5, 6, 7])?;
    let middle = slice.view(2..6)?;
    assert_eq!(stream.clone_dtoh(&middle.view(1..)?)?, [3, 4, 5]);
    assert_eq!(stream.clone_dtoh(&slice.as_view())?, [0, 1, 2, 3, 4, 5, 6, 7]);
    let (mut left, right) = slice.split_at_mut(4)?;
    stream.memcpy_dtod(&right, &mut left)?;
    let (mut first, second) = left.view_mut(..2)?.split_at_mut(1)?;
    stream.memcpy_dtod(&second, &mut first)?;
    stream.memcpy_htod(&[-1], &mut right.split_at_mut(3)?.1)?;
    assert_eq!(stream.clone_dtoh(&slice)?, [5, 5, 6, 7, 4, 5, 6, -1]);
    assert!(slice.view(8..)?.is_empty());
    Ok(())
}

#[test]
fn kernels_run_on_slices_and_views() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let add = function(&context, "add");
    let input = stream.clone_htod(&[1i32, 2, 3, 4, 5, 6])?;
    let mut sum = context.alloc_zeros::<i32>(4)?;
    {
        let (a, b) = (input.view(0..3)?, input.view(3..6)?);
        let mut out = sum.view_mut(1..)?;
        let mut launch = stream.launch_builder(&add);
        launch.arg(&a).arg(&b).arg(&mut out).arg(&3i32);
        unsafe { launch.launch(LaunchConfig::for_num_elems(3)) }?;
    }
    assert_eq!(stream.clone_dtoh(&sum)?, [0, 5, 7, 9]);
    let mut launch = stream.launch_builder(&add);
    let address = sum.address()? + 4; // a raw address works like a slice
    launch.arg(&input).arg(&input).arg(&address).arg(&1i32);
    unsafe { launch.launch(threads(1)) }?;
    unsafe { launch.launch(threads(1)) }?;
    assert_eq!(stream.clone_dtoh(&sum)?, [0, 2, 7, 9]);
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Point {
    x: f32,
    y: f32,
    tag: i32,
}

// SAFETY: three numbers of four bytes.
unsafe impl Pod for Point {}

#[test]
fn arguments_of_all_widths() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let widths = function(&context, "widths");
    let mut out = context.alloc_zeros::<f64>(10)?;
    let mut launch = stream.launch_builder(&widths);
    launch.arg(&mut out).arg(&1u8).arg(&-2i16).arg(&3i32).arg(&-4i64).arg(&5.5f32).arg(&6.25f64);
    launch.arg(&Point { x: 7.0, y: 8.0, tag: -9 }).arg(&10u8);
    unsafe { launch.launch(threads(1)) }?;
    let expected = [1.0, -2.0, 3.0, -4.0, 5.5, 6.25, 7.0, 8.0, -9.0, 10.0];
    assert_eq!(stream.clone_dtoh(&out)?, expected);
    assert_eq!(widths.params().len(), 9);
    assert_eq!((widths.params()[7].size_bytes, widths.params()[7].kind), (12, ParamKind::VALUE));
    Ok(())
}

#[test]
fn more_arguments_than_fit_in_place() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let sum_many = function(&context, "sum_many");
    let mut out = context.alloc_zeros::<i32>(1)?;
    let ones: Vec<Slice<i64>> =
        (0..10).map(|_| stream.clone_htod(&[1i64])).collect::<Result<_>>()?;
    let mut launch = stream.launch_builder(&sum_many);
    launch.arg(&mut out);
    for value in 1..=16i32 {
        launch.arg(&value);
    }
    launch.arg(&ones[0]).arg(&ones[1]);
    for value in 1..=7i64 {
        launch.arg(&value);
    }
    for slice in &ones[2..] {
        launch.arg(slice);
    }
    unsafe { launch.launch(threads(1)) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [136 + 28 + 10]);
    Ok(())
}

#[test]
fn dynamic_shared_memory() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let function = function(&context, "dynamic_shared");
    function.set_max_dynamic_shared_bytes(64 << 10)?;
    assert_eq!(function.attribute(FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES)?, 64 << 10);
    let mut out = context.alloc_zeros::<i32>(4)?;
    let mut launch = stream.launch_builder(&function);
    launch.arg(&mut out);
    unsafe { launch.launch(LaunchConfig { shared_mem_bytes: 60 << 10, ..threads(4) }) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [3, 2, 1, 0]);
    Ok(())
}

#[test]
fn events_mark_points() -> Result<()> {
    let context = context();
    let (one, two) = (context.new_stream()?, context.new_stream_with_priority(0)?);
    assert_eq!(two.priority()?, 0);
    let (start, never) = (context.new_event()?, context.new_event_without_timing()?);
    assert!(never.is_done()?);
    start.record(&one)?;
    let mut slice = one.alloc_zeros::<u32>(1 << 20)?;
    one.fill(&mut slice, 3)?;
    let end = one.record_event()?;
    two.wait(&end)?;
    assert_eq!(two.clone_dtoh(&slice)?, vec![3; 1 << 20]);
    end.synchronize()?;
    assert!(end.synchronize_timeout(Duration::ZERO)? && end.is_done()?);
    assert!(start.elapsed_ns(&end)?.is_some_and(|elapsed| elapsed > 0));
    assert!(one.is_done()? && one.synchronize_timeout(Duration::MAX)?);
    context.synchronize()
}

#[test]
fn work_under_way_is_seen_as_such() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let start = context.new_event()?;
    start.record(&stream)?;
    let (open_gate, gate) = mpsc::channel::<()>();
    stream.add_callback(move |_| assert!(gate.recv().is_ok()))?;
    let end = stream.record_event()?;
    assert!(!end.is_done()? && !stream.is_done()?);
    assert!(!stream.synchronize_timeout(Duration::from_millis(1))?);
    assert!(!end.synchronize_timeout(Duration::from_millis(1))?);
    assert_eq!(start.elapsed_ns(&end)?, None);
    let (sender, receiver) = mpsc::channel();
    stream.add_callback(move |result| assert!(sender.send(result.is_ok()).is_ok()))?;
    assert!(receiver.try_recv().is_err());
    assert!(open_gate.send(()).is_ok());
    stream.synchronize()?;
    assert_eq!(receiver.recv(), Ok(true));
    Ok(())
}

#[test]
fn page_locked_copies_own_their_memory() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let mut host = context.alloc_pinned::<u64>(200_000)?;
    assert!(host.iter().all(|value| *value == 0));
    host.iter_mut().zip(0..).for_each(|(place, value)| *place = value);
    let mut slice = stream.alloc_zeros(host.len())?;
    let pending = stream.memcpy_htod_async(host, &mut slice)?;
    let mut host = pending.wait()?;
    host.fill(0);
    let pending = stream.memcpy_dtoh_async(&slice, host)?;
    stream.synchronize()?;
    assert!(pending.is_done()?);
    let mut host = pending.wait()?;
    assert!(host.iter().zip(0..).all(|(place, value)| *place == value));
    // Borrowed, it has been read or written when the call returns.
    stream.memcpy_dtoh(&slice.view(1..1001)?, &mut host[..1000])?;
    assert_eq!((host[0], host[999], host[1000]), (1, 1000, 1000));
    stream.memcpy_htod(&host[..1000], &mut slice.view_mut(..1000)?)?;
    host.fill(5);
    assert_eq!(stream.clone_dtoh(&slice.view(..3)?)?, [1, 2, 3]);
    // Dropped under way, it lives until the copy is done.
    drop(stream.memcpy_htod_async(host, &mut slice)?);
    assert_eq!(stream.clone_dtoh(&slice.view(..2)?)?, [5, 5]);
    Ok(())
}

#[test]
fn vectors_become_slices() -> Result<()> {
    let context = context();
    let stream = context.default_stream()?;
    let scale = function(&context, "scale");
    let mut slice = Slice::from_vec(&context, vec![1.0f32, 2.0, 3.0])?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut slice).arg(&3.0f32).arg(&3i32);
    unsafe { launch.launch(threads(32)) }?;
    drop(launch);
    assert_eq!(stream.clone_dtoh(&slice)?, [3.0, 6.0, 9.0]);
    Ok(())
}

#[test]
fn modules_have_kernels_and_variables() -> Result<()> {
    let context = context();
    let module = module(&context);
    let names = module.function_names()?;
    assert!(names.iter().any(|name| name == "add") && names.len() > 5, "{names:?}");
    assert_eq!(module.load_function("add")?.name()?, "add");
    let counters = module.global::<i32>("counters")?;
    drop(module); // the variable keeps it
    let stream = context.default_stream()?;
    assert_eq!(stream.clone_dtoh(&counters)?, [1, 2, 3, 4]);
    Ok(())
}

#[test]
fn programs_compile() -> Result<()> {
    let source = "#include \"value.h\"\ntemplate <class T> __global__ void put(T* out) { *out = VALUE * N; }";
    let program = Program::with_name(source, "put.cu")?;
    program.add_header("value.h", "#define VALUE 6")?;
    program.add_option("-DN=7")?;
    program.add_name_expression("put<int>")?;
    program.compile()?;
    assert!(program.ptx()?.contains(&program.lowered_name("put<int>")?));
    let context = context();
    let put = context.load_program(&program)?.load_function("put<int>")?;
    let stream = context.default_stream()?;
    let mut out = context.alloc::<i32>(1)?;
    let mut launch = stream.launch_builder(&put);
    launch.arg(&mut out);
    unsafe { launch.launch(threads(1)) }?;
    drop(launch);
    assert_eq!(stream.clone_dtoh(&out)?, [42]);
    let ptx = compile_ptx("extern \"C\" __global__ void f() {}", &["-DA"])?;
    context.load_ptx(&ptx)?.load_function("f")?;
    Ok(())
}

#[test]
fn errors_of_a_source_are_in_the_log() -> Result<()> {
    let program = Program::with_name("__global__ void f() { undeclared(); }", "bad.cu")?;
    let error = program.compile().expect_err("an undeclared function");
    assert_eq!(error.status(), Status::ERROR_COMPILATION_FAILED);
    assert_eq!(error.category(), Category::PROGRAM);
    let log = program.log()?;
    assert!(log.contains("bad.cu") && log.contains("undeclared"), "{log}");
    Ok(())
}

#[test]
fn prints_go_to_the_output() -> Result<()> {
    static PRINTED: std::sync::Mutex<Vec<u8>> = std::sync::Mutex::new(Vec::new());
    let context = context();
    context.set_output(&|text| PRINTED.lock().unwrap().extend_from_slice(text))?;
    let stream = context.default_stream()?;
    let hello = function(&context, "hello");
    let mut launch = stream.launch_builder(&hello);
    launch.arg(&5i32);
    unsafe { launch.launch(threads(1)) }?;
    stream.synchronize()?;
    assert_eq!(PRINTED.lock().unwrap().as_slice(), b"hello 5\n");
    context.reset_output()
}
