#include "api/launch/kernel_call.h"

#include <cinttypes>
#include <cstring>
#include <new>
#include <string>

#include "api/guard.h"
#include "base/text.h"

namespace km {
namespace {

Error wrong_size(const KernelCall& kernel) {
  const kmb_function_info& info = kernel.function.info();
  // The C structure of the arguments ends with padding if its last member is small; the kernel's
  // parameters do not.
  const bool is_padding = kernel.arguments_size_bytes == (info.param_bytes + 7) / 8 * 8;
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "arguments_size_bytes is %" PRIu64 "; kernel '%s' takes %s for %s%s%s",
                    kernel.arguments_size_bytes, source_name(info.name).c_str(),
                    counted(info.param_bytes, "byte").c_str(),
                    counted(info.param_count, "parameter").c_str(),
                    kernel.function.types().list().c_str(),
                    is_padding ? "; leave out the padding at the structure's end" : "");
}

/// The error of a call for which is_sound() is false.
Status explain_kernel_call(const KernelCall& kernel) {
  const kmb_function_info& info = kernel.function.info();
  KM_TRY(require_same_context(kernel.context, kernel.function.context(), "function"));
  if (kernel.arguments_size_bytes != info.param_bytes) return wrong_size(kernel);
  if (kernel.arguments == nullptr && info.param_bytes != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "arguments is null; kernel '%s' takes %s",
                      source_name(info.name).c_str(), counted(info.param_bytes, "byte").c_str());
  }
  if (kernel.slice_count > info.param_count) {
    return make_error(KM_ERROR_INVALID_LAUNCH, "%s given; kernel '%s' has %s",
                      counted(kernel.slice_count, "slice").c_str(), source_name(info.name).c_str(),
                      counted(info.param_count, "parameter").c_str());
  }
  if (kernel.slices == nullptr && kernel.slice_count != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "the array of slices is null and its count is %" PRIu64, kernel.slice_count);
  }
  return check_shape(kernel.context.device(), kernel.shape);
}

Error bad_slice_handle(Call& call, uint64_t index) {
  Error error = call.take_error();
  error.message += " (entry " + std::to_string(index) + ")";
  return error;
}

constexpr const char* array_name(const km_launch_slice*) { return "slices[].slice"; }
constexpr const char* array_name(const km_launch_operand*) { return "operands[].slice"; }

bool is_sound(const km_launch_slice& entry) { return entry.reserved == 0; }
bool is_sound(const km_launch_operand& entry) { return is_access(entry.access); }

Error explain(const km_launch_slice&, uint64_t index) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "slices[%" PRIu64 "].reserved is not 0", index);
}
Error explain(const km_launch_operand& entry, uint64_t index) {
  return bad_access("operands[" + std::to_string(index) + "].access", entry.access);
}

/// Checks the entries' parameters. Entries may have any order, but no parameter may appear twice.
template <class Entry>
Status check_entry(const Entry* entries, uint64_t index) {
  const Entry& entry = entries[index];
  if (!is_sound(entry)) return explain(entry, index);
  for (uint64_t before = 0; before < index; ++before) {
    if (entries[before].parameter != entry.parameter) continue;
    return make_error(KM_ERROR_INVALID_LAUNCH, "two slices are given for parameter %u",
                      entry.parameter);
  }
  return {};
}

SliceArgument argument_of(const km_launch_slice& entry, Slice* slice) {
  return {entry.parameter, entry.offset_bytes, slice};
}
SliceArgument argument_of(const km_launch_operand& entry, Slice* slice) {
  return {entry.parameter, entry.offset_bytes, slice, entry.size_bytes, access_of(entry.access)};
}

}  // namespace

Error bad_access(const std::string& what, km_access access) {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "%s is %d; it can be 0 (unknown), 1 (read) or 2 (read and written)",
                    what.c_str(), access);
}

LaunchShape shape_of(const km_launch_config& config) {
  return {{config.grid[0], config.grid[1], config.grid[2]},
          {config.block[0], config.block[1], config.block[2]},
          config.shared_bytes};
}

void KernelArguments::make_room() {
  if (kernel_.arguments_size_bytes > kInlineBytes) {
    many_bytes_ = std::make_unique<std::byte[]>(kernel_.arguments_size_bytes);
    bytes_ = many_bytes_.get();
  }
  if (kernel_.slice_count > kInlineSlices) {
    many_memories_ = std::make_unique<Memory*[]>(kernel_.slice_count);
    memories_ = many_memories_.get();
    many_uses_ = std::make_unique<std::byte[]>(kernel_.slice_count * sizeof(MemoryUse));
    uses_ = reinterpret_cast<MemoryUse*>(many_uses_.get());
  }
  if (kernel_.arguments_size_bytes != 0) {
    std::memcpy(bytes_, kernel_.arguments, kernel_.arguments_size_bytes);
  }
}

/// Writes the addresses of the slices into the arguments.
template <class Entry>
Status KernelArguments::resolve(Call& call) {
  if (!kernel_.is_sound()) [[unlikely]] {
    KM_TRY(explain_kernel_call(kernel_));
  }
  if (kernel_.slice_count == 0) return {};
  make_room();
  const auto* entries = static_cast<const Entry*>(kernel_.slices);
  const kmb_function_info& info = kernel_.function.info();
  for (uint64_t i = 0; i < kernel_.slice_count; ++i) {
    const Entry& entry = entries[i];
    Slice* const slice = call.get(handle_of<km_slice>(entry.slice), array_name(entries));
    if (slice == nullptr) [[unlikely]]
      return bad_slice_handle(call, i);
    const SliceArgument argument = argument_of(entry, slice);
    if (!fits_parameter(kernel_.context, kernel_.function, argument)) [[unlikely]] {
      KM_TRY(check_slice_argument(kernel_.context, kernel_.function, argument));
    }
    KM_TRY(check_entry(entries, i));
    const uint64_t address = argument.address();
    std::memcpy(bytes_ + info.params[entry.parameter].offset_bytes, &address, sizeof address);
    Memory& memory = slice->memory();
    if (memory.accesses() == nullptr) {
      memories_[memory_count_++] = &memory;
    } else {
      new (&uses_[use_count_++]) MemoryUse(argument.use());
    }
  }
  return {};
}

template Status KernelArguments::resolve<km_launch_slice>(Call& call);
template Status KernelArguments::resolve<km_launch_operand>(Call& call);

}  // namespace km
