#include "core/launch/launch.h"

#include "api/guard.h"
#include "api/launch/kernel_call.h"
#include "api/output.h"

using namespace km;

namespace {

/// Slice is the type of the slices' entries.
template <class Slice>
[[gnu::always_inline]] inline Status launch_kernel(Call& call, Stream& stream,
                                                   const KernelCall& kernel) {
  if (kernel.slice_count == 0 && kernel.is_sound()) return submit_launch(stream, kernel.launch());
  KernelArguments resolved(kernel);
  KM_TRY(resolved.resolve<Slice>(call));
  return submit_launch(stream, resolved.launch());
}

Error no_value_type(km_element_type type, uint32_t lanes) {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "values of element type %d with lanes %u have no size; km_launch_arg_scalar "
                    "takes structures",
                    type, lanes);
}

}  // namespace

km_status km_launch_create(km_stream stream, km_function function, km_launch* out_launch) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(target, call, function);
    KM_REQUIRE(out_launch);
    KM_ASSIGN(Ref<Launch> created, Launch::create(*queue, *target));
    return give_handle(std::move(created), out_launch);
  });
}

km_status km_launch_destroy(km_launch launch) noexcept {
  return guard_light(__func__, [&](Call&) { return destroy_handle(launch, "launch"); });
}

km_status km_launch_set_grid(km_launch launch, uint32_t x, uint32_t y, uint32_t z) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_grid({x, y, z});
    return {};
  });
}

km_status km_launch_set_block(km_launch launch, uint32_t x, uint32_t y, uint32_t z) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_block({x, y, z});
    return {};
  });
}

km_status km_launch_set_shared_bytes(km_launch launch, uint64_t shared_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_shared_bytes(shared_bytes);
    return {};
  });
}

km_status km_launch_set_cluster(km_launch launch, uint32_t x, uint32_t y, uint32_t z) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_cluster({x, y, z});
    return {};
  });
}

km_status km_launch_set_cooperative(km_launch launch, uint32_t cooperative) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    if (cooperative > 1) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "cooperative is %u; expected 0 or 1",
                        cooperative);
    }
    target->set_cooperative(cooperative == 1);
    return {};
  });
}

km_status km_launch_arg_slice(km_launch launch, km_slice slice, uint64_t offset_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_GET(argument, call, slice);
    return target->add_slice({0, offset_bytes, argument});
  });
}

km_status km_launch_arg_slice_access(km_launch launch, km_slice slice, uint64_t offset_bytes,
                                     uint64_t size_bytes, km_access access) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_GET(argument, call, slice);
    if (!is_access(access)) return bad_access("access", access);
    return target->add_slice({0, offset_bytes, argument, size_bytes, access_of(access)});
  });
}

km_status km_launch_arg_address(km_launch launch, uint64_t address) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    return target->add_address(address);
  });
}

km_status km_launch_arg_scalar(km_launch launch, const void* value, uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_REQUIRE(value);
    return target->add_value(value, GivenValue::of_bytes(size_bytes));
  });
}

km_status km_launch_arg_value(km_launch launch, const void* value, km_element_type type,
                              uint32_t lanes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_REQUIRE(value);
    const uint64_t size_bytes = element_size_bytes(type, lanes);
    if (size_bytes == 0) return no_value_type(type, lanes);
    return target->add_value(value, {type, lanes, size_bytes});
  });
}

km_status km_launch_submit(km_launch launch) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    return target->submit();
  });
}

km_status km_launch_kernel(km_stream stream, km_function function, const km_launch_config* config,
                           const void* arguments, uint64_t arguments_size_bytes,
                           const km_launch_slice* slices, uint64_t slice_count) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(target, call, function);
    KM_REQUIRE(config);
    return launch_kernel<km_launch_slice>(call, *queue,
                                          {queue->context(), *target, shape_of(*config), arguments,
                                           arguments_size_bytes, slices, slice_count});
  });
}

km_status km_launch_kernel_operands(km_stream stream, km_function function,
                                    const km_launch_config* config, const void* arguments,
                                    uint64_t arguments_size_bytes,
                                    const km_launch_operand* operands,
                                    uint64_t operand_count) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(target, call, function);
    KM_REQUIRE(config);
    return launch_kernel<km_launch_operand>(
        call, *queue,
        {queue->context(), *target, shape_of(*config), arguments, arguments_size_bytes, operands,
         operand_count});
  });
}
