//! Launches in all forms, occupancy, and compiled modules on disk.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{context, expect_error, function};
use kernelmill::{
    FunctionAttribute, LaunchConfig, OccupancyLimit, ParamType, Result, Status, compile_ptx,
};

const CLUSTERS: &str = r#"
extern "C" __global__ void ranks(int* out) {
  __shared__ int mine;
  unsigned rank, count, address;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  if (threadIdx.x == 0) mine = blockIdx.x;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  address = (unsigned)__cvta_generic_to_shared(&mine);
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(address) : "r"((rank + 1) % count));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(rank) : "r"(address));
  out[blockIdx.x] = rank;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
"#;

/// Blocks that wait for all others, ten times.
const TURNS: &str = r#"
extern "C" __global__ void turns(int* sum) {
  for (int i = 1; threadIdx.x == 0 && i <= 10; ++i) {
    atomicAdd(sum, 1);
    while (atomicAdd(sum, 0) < int(gridDim.x) * i) {}
  }
}
"#;

const fn shape(grid: u32, block: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (block, 1, 1), shared_mem_bytes: 0 }
}

#[test]
fn blocks_of_a_cluster_see_each_other() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let ptx = compile_ptx(CLUSTERS, &["--gpu-architecture=compute_90"])?;
    let ranks = context.load_ptx(&ptx)?.load_function("ranks")?;
    let mut out = context.alloc_zeros::<i32>(8)?;
    let mut launch = stream.launch_builder(&ranks);
    launch.cluster_dim((4, 1, 1)).arg(&mut out);
    // SAFETY: the kernel writes one element for each of eight blocks.
    unsafe { launch.launch(shape(8, 32)) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [1, 2, 3, 0, 5, 6, 7, 4]);
    let mut launch = stream.launch_builder(&ranks);
    launch.arg(&mut out).cluster_dim((3, 1, 1));
    // SAFETY: nothing is run.
    expect_error(unsafe { launch.launch(shape(8, 32)) }, Status::ERROR_INVALID_LAUNCH, "3");
    Ok(())
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let turns = context.load_source(TURNS)?.load_function("turns")?;
    let mut sum = context.alloc_zeros::<i32>(1)?;
    let mut launch = stream.launch_builder(&turns);
    launch.arg(&mut sum).cooperative();
    // SAFETY: the kernel stays within one element.
    unsafe { launch.launch(shape(4, 32)) }?;
    assert_eq!(stream.clone_dtoh(&sum)?, [40]);
    let mut launch = stream.launch_builder(&turns);
    launch.arg(&mut sum).cooperative();
    // SAFETY: nothing is run.
    let large = unsafe { launch.launch(shape(1 << 30, 32)) };
    expect_error(large, Status::ERROR_INVALID_LAUNCH, "cooperative launch of 1073741824 blocks");
    Ok(())
}

#[test]
fn a_special_launch_gives_its_arguments_and_errors() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let (add, many) = (function(&context, "add"), function(&context, "sum_many"));
    let (a, b) = (stream.clone_htod(&[1, 2])?, stream.clone_htod(&[10, 20])?);
    let mut sum = stream.alloc_zeros::<i32>(2)?;
    let mut launch = stream.launch_builder(&add);
    launch.cooperative().arg(&a).arg(&b).arg(&mut sum).arg(&2i32);
    // SAFETY: the kernel stays within two elements.
    unsafe { launch.launch(shape(1, 2)) }?;
    assert_eq!(stream.clone_dtoh(&sum)?, [11, 22]);
    let mut launch = stream.launch_builder(&add);
    launch.cooperative().arg(&a).arg(&1u8);
    // SAFETY: nothing is run.
    let wrong = unsafe { launch.launch(shape(1, 2)) };
    expect_error(wrong, Status::ERROR_INVALID_LAUNCH, "parameter 1 'b' of kernel");

    let ones = stream.clone_htod(&[1i64])?;
    let mut out = stream.alloc_zeros::<i32>(1)?;
    let mut launch = stream.launch_builder(&many);
    launch.arg(&mut out).cooperative();
    (0..16).for_each(|number: i32| drop_it(launch.arg(&number)));
    (0..2).for_each(|_| drop_it(launch.arg(&ones)));
    (0..7).for_each(|number: i64| drop_it(launch.arg(&number)));
    (0..8).for_each(|_| drop_it(launch.arg(&ones)));
    // SAFETY: the kernel reads one element of each.
    unsafe { launch.launch(shape(1, 1)) }?;
    assert_eq!(stream.clone_dtoh(&out)?, [120 + 21 + 10]);
    let graph = context.new_graph()?;
    let mut node = graph.kernel_node(&many);
    // SAFETY: nothing is run.
    expect_error(
        unsafe { node.add(&[], shape(1, 1)) },
        Status::ERROR_INVALID_LAUNCH,
        "0 arguments",
    );
    Ok(())
}

fn drop_it<T>(_: T) {}

#[test]
fn prepared_launches_are_submitted_again_and_again() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let scale = function(&context, "scale");
    let mut data = stream.clone_htod(&[1f32, 2., 3., 4.])?;
    let mut launch = stream.prepare_launch(&scale)?;
    launch.set_config(shape(1, 4))?;
    launch.set_shared_mem_bytes(16)?;
    launch.arg_slice_mut(&mut data.view_mut(1..)?)?;
    launch.arg_scalar(&10f32)?;
    let invalid = Status::ERROR_INVALID_LAUNCH;
    expect_error(launch.arg_scalar(&3i64), invalid, "'long long' was given");
    launch.arg_scalar(&3i32)?;
    expect_error(launch.arg_address(0), invalid, "");
    // SAFETY: the kernel stays within three elements.
    unsafe {
        launch.submit()?;
        launch.submit()?;
    }
    assert_eq!(stream.clone_dtoh(&data)?, [1., 200., 300., 400.]);
    launch.arg_address(data.address()?)?;
    launch.arg_scalar(&0.5f32)?;
    launch.arg_scalar(&1i32)?;
    launch.set_cluster((1, 1, 1))?;
    launch.set_cooperative(true)?;
    // SAFETY: the kernel stays within one element.
    unsafe { launch.submit() }?;
    assert_eq!(stream.clone_dtoh(&data)?[..2], [0.5, 200.]);
    launch.set_grid((0, 1, 1))?;
    // SAFETY: nothing is run.
    expect_error(unsafe { launch.submit() }, invalid, "grid.x is 0");
    let foreign = common::context().new_stream()?;
    let mismatch = Status::ERROR_CONTEXT_MISMATCH;
    expect_error(foreign.prepare_launch(&scale), mismatch, "context");
    Ok(())
}

#[test]
fn code_is_made_before_the_first_launch() -> Result<()> {
    let scale = function(&context(), "scale");
    let types: Vec<ParamType> = scale.params().iter().map(|param| param.value_type).collect();
    assert_eq!(types[1..], [ParamType::FLOAT, ParamType::INTEGER]);
    scale.prepare((64, 1, 1))?;
    let invalid = Status::ERROR_INVALID_LAUNCH;
    expect_error(scale.prepare((0, 1, 1)), invalid, "block.x is 0");
    expect_error(scale.prepare((64, 64, 1)), invalid, "4096");
    scale.set_attribute(FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES, 65536)?;
    assert_eq!(scale.attribute(FunctionAttribute::MAX_DYNAMIC_SHARED_BYTES)?, 65536);
    let fixed = scale.set_attribute(FunctionAttribute::REGISTERS, 1);
    expect_error(fixed, Status::ERROR_INVALID_ARGUMENT, "");
    Ok(())
}

#[test]
fn occupancy_adds_up() -> Result<()> {
    let context = context();
    let kernel = function(&context, "dynamic_shared");
    let free = kernel.occupancy(128, 0)?;
    assert!(free.active_blocks > 0 && free.active_warps == free.active_blocks * 4);
    assert_eq!(free.percent, free.active_warps * 100 / free.max_warps);
    let available = kernel.available_shared_bytes(2, 128)?;
    let two = kernel.occupancy(128, available)?;
    assert!(two.active_blocks >= 2 && two.blocks_by_shared_memory == two.active_blocks);
    assert_eq!(two.limit, OccupancyLimit::SHARED_MEMORY);
    let best = kernel.best_block(0, None)?;
    assert!(best.block_threads % 32 == 0 && best.grid_blocks > 0);
    assert!(kernel.best_block(0, Some(64))?.block_threads <= 64);
    let mut asked = Vec::new();
    let shared = |threads: u32| {
        asked.push(threads);
        u64::from(threads) * 4
    };
    let with = kernel.best_block_with(shared, Some(256))?;
    assert!(asked.contains(&with.block_threads) && asked.iter().all(|threads| *threads <= 256));
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(kernel.occupancy(0, 0), argument, "block_threads");
    expect_error(kernel.available_shared_bytes(0, 32), argument, "block_count");
    let many = kernel.available_shared_bytes(1000, 1024);
    expect_error(many, Status::ERROR_INVALID_LAUNCH, "1000");
    assert!(kernel.max_active_clusters(128, 0, 2)? > 0);
    expect_error(kernel.max_active_clusters(128, 0, 0), argument, "cluster_blocks");
    Ok(())
}

#[test]
fn a_panic_goes_on_behind_the_library() {
    let kernel = function(&context(), "empty");
    let mut calls = 0;
    let panics = |_| {
        calls += 1;
        panic!("a panic on purpose")
    };
    let result = catch_unwind(AssertUnwindSafe(|| kernel.best_block_with(panics, None)));
    assert_eq!(calls, 1);
    assert!(result.is_err_and(|panic| panic.downcast_ref() == Some(&"a panic on purpose")));
}

#[test]
fn modules_are_saved_and_loaded() -> Result<()> {
    let context = context();
    let stream = context.new_stream()?;
    let path = std::env::temp_dir().join(format!("kernelmill-{}.kmo", std::process::id()));
    let source = "extern \"C\" __global__ void scale(float* data, float factor, int n) {
                    if (threadIdx.x < n) data[threadIdx.x] *= factor; }";
    let module = context.load_source(source)?;
    let invalid = Status::ERROR_INVALID_LAUNCH;
    expect_error(module.save_object(&path, &[[64, 64, 1]]), invalid, "4096");
    expect_error(module.save_object("no/such/folder/m.kmo", &[]), Status::ERROR_IO, "no/such");
    module.save_object(&path, &[[32, 1, 1], [64, 1, 1]])?;
    let object = std::fs::read(&path).expect("the object file");
    assert!(std::fs::remove_file(&path).is_ok());
    // SAFETY: the data is what this library wrote, or damaged in a way that it has to see.
    let (loaded, damaged, empty) = unsafe {
        let damaged = context.load_object(&object[..object.len() / 2], Some("half.kmo"));
        (context.load_object(&object, None)?, damaged, context.load_object(&[], None))
    };
    let argument = Status::ERROR_INVALID_ARGUMENT;
    expect_error(damaged, argument, "damaged or cut off");
    expect_error(empty, argument, "");
    let scale = loaded.load_function("scale")?;
    let mut data = stream.clone_htod(&[1f32, 2., 3.])?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut data).arg(&2f32).arg(&3i32);
    // SAFETY: the kernel stays within three elements.
    unsafe { launch.launch(shape(1, 32)) }?;
    assert_eq!(stream.clone_dtoh(&data)?, [2., 4., 6.]);
    Ok(())
}
