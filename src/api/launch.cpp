#include "core/launch.h"

#include <cinttypes>
#include <cstring>

#include "api/guard.h"
#include "api/output.h"

using namespace km;

namespace {

/// The argument bytes of one call, with room on the stack for those of any usual kernel.
class ArgumentBytes {
 public:
  ArgumentBytes(const void* given, uint64_t size_bytes) {
    if (size_bytes > sizeof inline_) {
      large_.resize(size_bytes);
      data_ = large_.data();
    }
    if (size_bytes != 0) std::memcpy(data_, given, size_bytes);
  }
  std::byte* data() { return data_; }

 private:
  alignas(16) std::byte inline_[1024];
  std::vector<std::byte> large_;
  std::byte* data_ = inline_;
};

/// What a call of km_launch_kernel works on.
struct KernelCall {
  Stream& stream;
  Function& function;
  LaunchShape shape;
  const void* arguments;
  uint64_t arguments_size_bytes;
  const km_launch_slice* slices;
  uint64_t slice_count;
};

Error wrong_size(const KernelCall& kernel) {
  const kmb_function_info& info = kernel.function.info();
  // A C structure ends with padding where its last member is small; the parameters do not.
  const bool is_padding = kernel.arguments_size_bytes == (info.param_bytes + 7) / 8 * 8;
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "arguments_size_bytes is %" PRIu64 "; kernel '%s' takes %" PRIu64
                    " bytes for its %u parameters%s",
                    kernel.arguments_size_bytes, info.name, info.param_bytes, info.param_count,
                    is_padding ? "; leave out the padding at the structure's end" : "");
}

Status check_kernel_call(const KernelCall& kernel) {
  const kmb_function_info& info = kernel.function.info();
  KM_TRY(require_same_context(kernel.stream.context(), kernel.function.context(), "function"));
  if (kernel.arguments_size_bytes != info.param_bytes) return wrong_size(kernel);
  if (kernel.arguments == nullptr && info.param_bytes != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "arguments is null; kernel '%s' takes %" PRIu64 " bytes", info.name,
                      info.param_bytes);
  }
  if (kernel.slice_count > info.param_count) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "slice_count is %" PRIu64 "; kernel '%s' has %u parameters",
                      kernel.slice_count, info.name, info.param_count);
  }
  if (kernel.slices == nullptr && kernel.slice_count != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "slices is null and slice_count is %" PRIu64,
                      kernel.slice_count);
  }
  return check_shape(kernel.stream.context().device(), kernel.shape);
}

/// Whether check_kernel_call() would succeed, without the words.
bool is_sound(const KernelCall& kernel) {
  const kmb_function_info& info = kernel.function.info();
  const Context& context = kernel.stream.context();
  return &context == &kernel.function.context() &&
         kernel.arguments_size_bytes == info.param_bytes &&
         (kernel.arguments != nullptr || info.param_bytes == 0) &&
         kernel.slice_count <= info.param_count &&
         (kernel.slices != nullptr || kernel.slice_count == 0) &&
         fits_device(context.device().info(), kernel.shape);
}

Error bad_slice_handle(Call& call, uint64_t index) {
  Error error = call.take_error();
  error.message += " (entry " + std::to_string(index) + ")";
  return error;
}

/// Entries come in any order, but no parameter comes twice.
Status check_entry(const KernelCall& kernel, uint64_t index) {
  const km_launch_slice& entry = kernel.slices[index];
  if (entry.reserved != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "slices[%" PRIu64 "].reserved is not 0", index);
  }
  for (uint64_t before = 0; before < index; ++before) {
    if (kernel.slices[before].parameter != entry.parameter) continue;
    return make_error(KM_ERROR_INVALID_LAUNCH, "two slices are given for parameter %u",
                      entry.parameter);
  }
  return {};
}

/// Puts the addresses of the slices into the arguments, and their memory into `out_memories`.
Status place_slices(Call& call, const KernelCall& kernel, std::byte* arguments,
                    Memory** out_memories) {
  const kmb_function_info& info = kernel.function.info();
  for (uint64_t i = 0; i < kernel.slice_count; ++i) {
    const km_launch_slice& entry = kernel.slices[i];
    Slice* const slice = call.get(handle_of<km_slice>(entry.slice), "slices[].slice");
    if (slice == nullptr) [[unlikely]]
      return bad_slice_handle(call, i);
    const SliceArgument argument{entry.parameter, entry.offset_bytes, slice};
    if (!fits_parameter(kernel.stream, info, argument)) [[unlikely]] {
      KM_TRY(check_slice_argument(kernel.stream, kernel.function, argument));
    }
    KM_TRY(check_entry(kernel, i));
    const uint64_t address = slice->address() + entry.offset_bytes;
    std::memcpy(arguments + info.params[entry.parameter].offset_bytes, &address, sizeof address);
    out_memories[i] = &slice->memory();
  }
  return {};
}

Status launch_with_slices(Call& call, const KernelCall& kernel) {
  constexpr uint64_t kInlineSlices = 16;
  ArgumentBytes bytes(kernel.arguments, kernel.arguments_size_bytes);
  Memory* few[kInlineSlices];
  std::vector<Memory*> many;
  Memory** memories = few;
  if (kernel.slice_count > kInlineSlices) {
    many.resize(kernel.slice_count);
    memories = many.data();
  }
  KM_TRY(place_slices(call, kernel, bytes.data(), memories));
  uint64_t ticket = 0;
  KM_TRY(submit_launch(kernel.stream, kernel.function, kernel.shape, bytes.data(),
                       kernel.arguments_size_bytes, &ticket));
  for (uint64_t i = 0; i < kernel.slice_count; ++i) {
    memories[i]->record_use(kernel.stream, ticket);
  }
  return {};
}

}  // namespace

km_status km_launch_create(km_stream stream, km_function function, km_launch* out_launch) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(target, call, function);
    KM_REQUIRE(out_launch);
    KM_ASSIGN(Ref<Launch> created, Launch::create(*queue, *target));
    return give_handle(std::move(created), out_launch);
  });
}

km_status km_launch_destroy(km_launch launch) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(launch, "launch"); });
}

km_status km_launch_set_grid(km_launch launch, uint32_t x, uint32_t y, uint32_t z) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_grid({x, y, z});
    return {};
  });
}

km_status km_launch_set_block(km_launch launch, uint32_t x, uint32_t y, uint32_t z) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_block({x, y, z});
    return {};
  });
}

km_status km_launch_set_shared_bytes(km_launch launch, uint64_t shared_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    target->set_shared_bytes(shared_bytes);
    return {};
  });
}

km_status km_launch_arg_slice(km_launch launch, km_slice slice, uint64_t offset_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_GET(argument, call, slice);
    return target->add_slice(*argument, offset_bytes);
  });
}

km_status km_launch_arg_address(km_launch launch, uint64_t address) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    return target->add_address(address);
  });
}

km_status km_launch_arg_scalar(km_launch launch, const void* value, uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    KM_REQUIRE(value);
    return target->add_scalar(value, size_bytes);
  });
}

km_status km_launch_submit(km_launch launch) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, launch);
    return target->submit();
  });
}

km_status km_launch_kernel(km_stream stream, km_function function, const km_launch_config* config,
                           const void* arguments, uint64_t arguments_size_bytes,
                           const km_launch_slice* slices, uint64_t slice_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(target, call, function);
    KM_REQUIRE(config);
    const KernelCall kernel{*queue,
                            *target,
                            {{config->grid[0], config->grid[1], config->grid[2]},
                             {config->block[0], config->block[1], config->block[2]},
                             config->shared_bytes},
                            arguments,
                            arguments_size_bytes,
                            slices,
                            slice_count};
    if (!is_sound(kernel)) [[unlikely]] {
      KM_TRY(check_kernel_call(kernel));
    }
    if (slice_count != 0) return launch_with_slices(call, kernel);
    uint64_t ticket = 0;
    return submit_launch(*queue, *target, kernel.shape, arguments, arguments_size_bytes, &ticket);
  });
}
