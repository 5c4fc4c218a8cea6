// The arguments of a kernel as bindings give them: one buffer, and slices to be put into it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/call.h"
#include "core/launch/launch.h"

namespace km {

/// The operands of a call that names a kernel and all its arguments.
struct KernelCall {
  Context& context;
  Function& function;
  LaunchShape shape;
  const void* arguments;
  uint64_t arguments_size_bytes;
  const void* slices = nullptr;  // km_launch_slice or km_launch_operand, as resolve() is told
  uint64_t slice_count = 0;

  /// True if everything but the slices' handles is right.
  bool is_sound() const {
    const kmb_function_info& info = function.info();
    return &context == &function.context() && arguments_size_bytes == info.param_bytes &&
           (arguments != nullptr || info.param_bytes == 0) && slice_count <= info.param_count &&
           (slices != nullptr || slice_count == 0) && fits_device(context.device().info(), shape);
  }
  /// The launch as it is, when there are no slices.
  KernelLaunch launch() const { return {function, shape, arguments, arguments_size_bytes, {}, {}}; }
};

LaunchShape shape_of(const km_launch_config& config);

/// True for what a caller may say of a kernel's use of a slice.
inline bool is_access(km_access access) {
  return access >= KM_ACCESS_UNKNOWN && access <= KM_ACCESS_READ_WRITE;
}
/// The failure of a call that says something else; `what` names it.
Error bad_access(const std::string& what, km_access access);
inline AccessKind access_of(km_access access) {
  return access == KM_ACCESS_READ ? AccessKind::kRead : AccessKind::kWrite;
}

/// The laid out arguments of one call, with room on the stack for those of any usual kernel.
class KernelArguments {
 public:
  explicit KernelArguments(const KernelCall& kernel) : kernel_(kernel) {}
  /// Checks the call and resolves the slices. Slice: km_launch_slice or km_launch_operand.
  template <class Slice>
  Status resolve(Call& call);
  /// After that. It lies in this object and in the caller's buffer.
  KernelLaunch launch() {
    const void* bytes = kernel_.slice_count == 0 ? kernel_.arguments : bytes_;
    return {kernel_.function,           kernel_.shape,      bytes, kernel_.arguments_size_bytes,
            {memories_, memory_count_}, {uses_, use_count_}};
  }

 private:
  static constexpr uint64_t kInlineBytes = 1024;
  static constexpr uint64_t kInlineSlices = 16;
  void make_room();

  const KernelCall& kernel_;
  alignas(16) std::byte few_bytes_[kInlineBytes];
  Memory* few_memories_[kInlineSlices];
  alignas(MemoryUse) std::byte few_uses_[kInlineSlices * sizeof(MemoryUse)];  // made as needed
  std::unique_ptr<std::byte[]> many_bytes_;
  std::unique_ptr<Memory*[]> many_memories_;
  std::unique_ptr<std::byte[]> many_uses_;
  std::byte* bytes_ = few_bytes_;
  Memory** memories_ = few_memories_;
  MemoryUse* uses_ = reinterpret_cast<MemoryUse*>(few_uses_);
  size_t memory_count_ = 0, use_count_ = 0;
};

}  // namespace km
