"""Names and reasons in docs/bindings.md that cannot be derived from the bindings' sources.

NAMES: functions that one generic name covers. REASONS: functions without a wrapper.
"""

RUST_NAMES = {
    "km_comm_all_reduce": ["Comm::all_reduce", "Comm::all_reduce_in_place"],
    "km_comm_broadcast": ["Comm::broadcast", "Comm::broadcast_in_place"],
    "km_comm_info_get": ["Comm::rank", "Comm::engine", "Comm::reason"],
    "km_comm_send": ["Comm::send"],
    "km_context_create_with_flags": ["Context::new", "Context::new_checked",
                                     "Context::new_unordered"],
    "km_function_check_argument": ["LaunchBuilder::launch"],
    "km_graph_add_kernel": ["KernelNode::add"],
    "km_graph_set_kernel": ["KernelNode::set"],
    "km_last_error_message": ["Error::message"],
    "km_last_error_native_code": ["Error::native_code"],
    "km_solve_syevd": ["Blas::syevd", "Blas::syevd_values"],
    "km_status_description": ["Error::message"],
}
RUST_REASONS = {
    "km_context_create": "`Context::new_unordered` goes by `km_context_create_with_flags`",
    "km_launch_arg_slice": "`PreparedLaunch::arg_slice` goes by `km_launch_arg_slice_access`",
    "km_launch_kernel": "`LaunchBuilder::launch` goes by `km_launch_kernel_operands`",
}

CPP_NAMES = {
    "km_comm_group_begin": ["comm::group"],
    "km_comm_group_end": ["comm::group"],
    "km_comm_send": ["comm::send"],
    "km_function_check_argument": ["stream::launch_kernel"],
    "km_device_open": ["device::open"],
    "km_graph_destroy": ["drop of graph"],
    "km_last_error_message": ["error::error"],
    "km_status_description": ["error::error"],
    "km_last_error_native_code": ["error::native_code"],
    "km_status_recovery": ["error::suggestion"],
    "km_status_category": ["error::category"],
    "km_stream_capture_status": ["stream::capture_status", "capture::status"],
    "km_stream_end_capture": ["stream::end_capture", "capture::end"],
    "km_tune_set_progress": ["tuner::run_with"],
}
CPP_REASONS = {
    "km_context_create": "`context::create` goes by `km_context_create_with_flags`",
    "km_launch_kernel": "`stream::launch_kernel` goes by `km_launch_kernel_operands`",
}

GO_NAMES = {
    "km_comm_send": ["Send"],
    "km_function_check_argument": ["LaunchBuilder.Args"],
    "km_version": ["Version"],
    "km_status_description": ["Status.Error"],
    "km_context_create_with_flags": ["Device.NewContext", "Device.NewUnorderedContext"],
    "km_event_context": ["Event.Context"],
    "km_slice_create": ["NewSlice", "NewZeroedSlice", "NewManagedSlice"],
    "km_slice_info_get": ["Slice.Len", "Slice.IsView"],
    "km_last_error_message": ["Error.Error"],
    "km_stream_add_callback": ["Stream.AddCallback"],
    "km_stream_capture_status": ["Stream.CaptureStatus"],
    "km_stream_create": ["Context.NewStreamWithPriority"],
    "km_stream_query": ["Stream.Query"],
    "km_context_default_stream": ["Context.DefaultStream"],
    "km_context_error_message": ["Context.Err", "Context.TakeErr"],
    "km_context_synchronize": ["Context.Synchronize"],
    "km_stream_context": ["Stream.Context"],
    "km_stream_synchronize_timeout": ["Stream.SynchronizeTimeout"],
    "km_function_name": ["Function.Name"],
    "km_function_param": ["Function.Parameters"],
    "km_function_param_count": ["Function.ParameterCount"],
    "km_module_function": ["Module.Function"],
    "km_slice_upload": ["Slice.Upload", "Slice.UploadFrom", "Bytes.WriteAt"],
    "km_slice_download": ["Slice.Download", "Slice.DownloadTo", "Bytes.ReadAt"],
    "km_host_memory_pointer": ["HostMemory.Data"],
    "km_host_memory_size_bytes": ["HostMemory.Len"],
    "km_graph_exec_launch": ["GraphExec.Launch"],
    "km_graph_destroy": ["Graph.Close"],
    "km_status_category": ["Status.Category"],
    "km_device_destroy": ["Device.Close"],
    "km_context_destroy": ["Context.Close"],
    "km_stream_destroy": ["Stream.Close"],
    "km_event_destroy": ["Event.Close"],
    "km_host_memory_destroy": ["HostMemory.Close"],
    "km_slice_destroy": ["Slice.Close"],
    "km_module_destroy": ["Module.Close"],
    "km_function_destroy": ["Function.Close"],
    "km_program_destroy": ["Program.Close"],
    "km_pool_destroy": ["Pool.Close"],
    "km_graph_exec_destroy": ["GraphExec.Close"],
    "km_blas_destroy": ["BLAS.Close"],
    "km_fft_destroy": ["FFT.Close"],
    "km_comm_destroy": ["Comm.Close"],
    "km_tune_destroy": ["Tuner.Close"],
    "km_launch_kernel_operands": ["LaunchBuilder.Submit"],
    "km_launch_arg_address": ["LaunchBuilder.AddressArg"],
    "km_launch_arg_slice": ["LaunchBuilder.Args"],
    "km_launch_arg_slice_access": ["LaunchBuilder.Args"],
    "km_launch_arg_scalar": ["LaunchBuilder.Args"],
}
GO_REASONS = {
    "km_last_error_native_code": "the field `NativeCode` of `Error`",
    "km_last_error_status": "goroutines move between threads: each call gives its error",
    "km_last_error_take": "goroutines move between threads: each call gives its error",
    "km_context_create": "folded into `Device.NewUnorderedContext`",
    "km_launch_arg_value": "folded into `LaunchBuilder.Args`, which knows the parameters",
    "km_launch_kernel": "folded into `LaunchBuilder.Submit`, which says what is only read",
}

ZIG_NAMES = {
    "km_comm_send": ["Comm.send"],
    "km_context_create_with_flags": ["Context.init", "Context.initChecked",
                                     "Context.initUnordered"],
    "km_launch_kernel_operands": ["Kernel.launch", "Stream.launch"],
}
ZIG_REASONS = {
    "km_context_create": "`Context.initUnordered` goes by `km_context_create_with_flags`",
    "km_launch_kernel": "`Kernel.launch` goes by `km_launch_kernel_operands`",
}

# Names in messages for functions for which the table has several equally good names.
ADVICE = {"Rust": {"km_slice_download": "Stream::memcpy_dtoh"}}
