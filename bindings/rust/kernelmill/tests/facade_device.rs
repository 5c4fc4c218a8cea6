//! The facade's words about devices.

#[path = "common/facade.rs"]
mod facade;

use facade::{Tested, expect_error, own_context};
use kernelmill::driver::sys::{self, CUctx_flags, CUdevice_attribute, CUfunc_cache, CUlimit};
use kernelmill::driver::{
    CudaContext, DriverError, Profiler, profiler_start, profiler_stop, result,
};

#[test]
fn properties_are_those_of_the_device() -> Tested {
    let context = CudaContext::new(0)?;
    let properties = context.device_properties()?;
    let info = context.native().device()?.info()?;
    assert_eq!(properties.name, info.name);
    assert!(!properties.name.is_empty() && properties.name == context.name()?);
    assert_eq!(properties.total_global_mem as u64, info.total_memory_bytes);
    assert_eq!(properties.total_global_mem, context.total_mem()?);
    assert_eq!(properties.shared_mem_per_block as u64, info.shared_bytes_per_block);
    assert!(properties.shared_mem_per_block >= 48 << 10);
    assert!(properties.shared_mem_per_block_optin >= properties.shared_mem_per_block);
    assert_eq!(properties.max_threads_per_block, 1024);
    assert_eq!(properties.warp_size, 32);
    let (major, minor) = context.compute_capability()?;
    assert_eq!((properties.major, properties.minor), (major as usize, minor as usize));
    assert_eq!(properties.max_threads_dim[0], 1024);
    assert_eq!(properties.max_grid_size[0], (1 << 31) - 1);
    assert!(properties.multi_processor_count > 0);
    assert_eq!(properties.total_const_mem, 64 << 10);
    Ok(())
}

#[test]
fn attributes_are_cudas() -> Tested {
    let context = CudaContext::new(0)?;
    assert_eq!(context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?, 32);
    let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    assert_eq!(context.attribute(most)?, 1024);
    assert_eq!((context.ordinal(), context.cu_device()), (0, 0));
    assert!(context.has_async_alloc());
    Ok(())
}

#[test]
fn memory_figures_follow_allocations() -> Tested {
    let context = own_context()?;
    let (_, total) = context.mem_get_info()?;
    let mut follow = false;
    for _ in 0..100 {
        // Other tests of the process allocate too, so that not every round shows it.
        let before = result::mem_get_info()?; // of this thread's last context
        assert!(0 < before.0 && before.0 <= total && before.1 == total);
        let again = context.mem_get_info()?;
        let slice = context.default_stream().alloc_zeros::<u8>(1 << 20)?;
        let (less, _) = result::mem_get_info()?;
        drop(slice);
        context.synchronize()?;
        let after = result::mem_get_info()?;
        follow |= before == again && less + (1 << 20) == before.0 && after == before;
    }
    assert!(follow);
    // A thread without a context asks the first device; one that binds a context asks that.
    let elsewhere = std::thread::spawn(result::mem_get_info).join().expect("a thread")?;
    assert_eq!(elsewhere.1, total);
    let _slice = context.default_stream().alloc_zeros::<u8>(1 << 20)?;
    let other = own_context()?;
    assert_eq!(result::mem_get_info()?.1, other.mem_get_info()?.1);
    context.bind_to_thread()?;
    assert_eq!(result::mem_get_info()?.1, total);
    Ok(())
}

#[test]
fn devices_are_counted_and_named() -> Tested {
    result::init()?;
    let count = result::device::get_count()?;
    assert_eq!(count, CudaContext::device_count()?);
    let device = result::device::get(0)?;
    assert_eq!(result::device::get_name(device)?, CudaContext::new(0)?.name()?);
    assert_eq!(unsafe { result::device::total_mem(device) }?, CudaContext::new(0)?.total_mem()?);
    let warp = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    assert_eq!(unsafe { result::device::get_attribute(device, warp) }?, 32);
    expect_error(result::device::get(count), DriverError::InvalidDevice, &count.to_string());
    expect_error(result::device::get(-1), DriverError::InvalidValue, "-1");
    Ok(())
}

#[test]
fn limits_are_kept_or_refused() -> Tested {
    let context = own_context()?;
    for limit in [
        CUlimit::CU_LIMIT_STACK_SIZE,
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE,
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE,
        CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
        CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
    ] {
        let value = context.get_limit(limit)?;
        context.set_limit(limit, value * 2)?;
        assert!(context.get_limit(limit)? >= value * 2, "{limit:?}");
    }
    let endless = context.set_limit(CUlimit::CU_LIMIT_STACK_SIZE, 1 << 40);
    assert_eq!(endless, Err(DriverError::UnsupportedLimit));
    let unknown = context.get_limit(CUlimit::CU_LIMIT_CIG_ENABLED);
    expect_error(unknown, DriverError::UnsupportedLimit, "CU_LIMIT_CIG_ENABLED");
    assert_eq!(context.get_cache_config()?, CUfunc_cache::CU_FUNC_CACHE_PREFER_NONE);
    context.set_cache_config(CUfunc_cache::CU_FUNC_CACHE_PREFER_L1)?;
    assert_eq!(context.get_cache_config()?, CUfunc_cache::CU_FUNC_CACHE_PREFER_L1);
    Ok(())
}

#[test]
fn flags_that_say_how_contexts_are_are_taken() -> Tested {
    let context = own_context()?;
    context.set_blocking_synchronize()?;
    context.set_flags(CUctx_flags::CU_CTX_MAP_HOST)?;
    let spin = context.set_flags(CUctx_flags::CU_CTX_SCHED_SPIN);
    expect_error(spin, DriverError::NotSupported, "flags is 0x1");
    drop(CudaContext::new_non_primary(0, CUctx_flags::CU_CTX_SCHED_BLOCKING_SYNC as u32)?);
    // SAFETY: none is needed.
    assert!(unsafe { sys::is_culib_present() && kernelmill::nvrtc::sys::is_culib_present() });
    Ok(())
}

#[test]
fn profiles_are_taken_while_asked_for() -> Tested {
    let context = own_context()?;
    let stream = context.default_stream();
    let mut slice = stream.alloc_zeros::<u8>(100)?;
    {
        let _profiler = Profiler::new()?;
        stream.memset_zeros(&mut slice)?;
    }
    let recorded = context.native().profiler().rows()?.len();
    assert!(recorded > 0);
    stream.memset_zeros(&mut slice)?;
    context.synchronize()?;
    assert_eq!(context.native().profiler().rows()?.len(), recorded);
    profiler_start()?;
    stream.memset_zeros(&mut slice)?;
    context.synchronize()?;
    profiler_stop()?;
    Ok(())
}
