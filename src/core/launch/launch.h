// Kernel launches, which are checked before any part runs.
#pragma once

#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "core/memory/slice.h"
#include "core/module/kernel_launch.h"

namespace km {

/// A slice, or a part of one, that is passed as a kernel argument.
struct SliceArgument {
  uint32_t parameter = 0;
  uint64_t offset_bytes = 0;
  Slice* slice = nullptr;
  uint64_t size_bytes = 0;  // bytes that the kernel uses from the offset on; 0: all of the slice
  AccessKind access = AccessKind::kWrite;

  uint64_t address() const { return slice->address() + offset_bytes; }
  /// True if the part lies in the slice.
  bool is_inside() const {
    const uint64_t whole = slice->size_bytes();
    return offset_bytes <= whole && size_bytes <= whole - offset_bytes;
  }
  MemoryUse use() const {
    return size_bytes != 0
               ? MemoryUse::of(slice->memory(), address(), size_bytes, access)
               : MemoryUse::of(slice->memory(), slice->address(), slice->size_bytes(), access);
  }
};

/// True if check_slice_argument() would succeed. Makes no message, so it is cheap.
inline bool fits_parameter(const Context& context, const Function& function,
                           const SliceArgument& argument) {
  const kmb_function_info& info = function.info();
  if (argument.parameter >= info.param_count ||
      info.params[argument.parameter].size_bytes != sizeof(uint64_t) ||
      &argument.slice->context() != &context || !argument.is_inside()) {
    return false;
  }
  const ElementTag tag = argument.slice->element_tag();
  return tag == 0 || function.types().takes(argument.parameter, tag);
}
/// Fails unless all blocks of a cooperative launch fit the device at once.
Status check_cooperative(const Function& function, const LaunchShape& shape);
/// Fails unless the slice fits the parameter in size, bounds, context and element type.
Status check_slice_argument(const Context& context, const Function& function,
                            const SliceArgument& argument);

/// Submits one launch and records its uses, or captures it. `variables` is the access list of the
/// kernel's module, or null.
Status submit_launch(Stream& stream, const KernelLaunch& launch, AccessList* variables);
/// Reads `variables` here, inlined, while the kernel is still in a register, so that the load
/// starts earlier.
inline Status submit_launch(Stream& stream, const KernelLaunch& launch) {
  return submit_launch(stream, launch, launch.function.module().variables());
}

/// One call of a kernel, whose arguments are set step by step. Several threads may use it, one at a
/// time.
class Launch final : public ContextChild {
 public:
  static Result<Ref<Launch>> create(Stream& stream, Function& function);

  void set_grid(std::array<uint32_t, 3> grid);
  void set_block(std::array<uint32_t, 3> block);
  void set_shared_bytes(uint64_t shared_bytes);
  void set_cluster(std::array<uint32_t, 3> cluster);
  void set_cooperative(bool is_cooperative);
  /// Each of these sets the next parameter; the number in the argument is ignored.
  Status add_slice(SliceArgument argument);
  Status add_address(uint64_t address);
  Status add_value(const void* value, const GivenValue& given);
  /// Launches the kernel. A further call reuses the arguments, unless all of them are set again.
  Status submit();

 private:
  Launch(Stream& stream, Function& function);
  Result<const kmb_param*> next_param();
  void store(const kmb_param& param, const void* value, Ref<Memory> memory, const MemoryUse& use);
  Status check_complete() const;

  std::mutex mutex_;
  const Ref<Stream> stream_;
  const Ref<Function> function_;
  LaunchShape shape_;
  std::vector<std::byte> arguments_;
  std::vector<Ref<Memory>> memories_;  // by parameter; null for values
  std::vector<Memory*> used_;          // memories_ in the form that a launch takes
  std::vector<MemoryUse> uses_;        // the uses among them that are ordered
  uint32_t given_ = 0;  // parameters that were set since the start or the last submit
  bool was_submitted_ = false;
};

}  // namespace km
