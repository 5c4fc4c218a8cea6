// The arguments of a kernel in the form that bindings use: one buffer, and slices whose addresses
// are written into it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "api/call.h"
#include "core/launch/launch.h"

namespace km {

/// The operands of a call that launches a kernel with all its arguments.
struct KernelCall {
  Context& context;
  Function& function;
  LaunchShape shape;
  const void* arguments;
  uint64_t arguments_size_bytes;
  // The entries are km_launch_slice or km_launch_operand, depending on resolve()'s argument.
  const void* slices = nullptr;
  uint64_t slice_count = 0;

  /// True if everything except the slices' handles is valid.
  bool is_sound() const {
    const kmb_function_info& info = function.info();
    return &context == &function.context() && arguments_size_bytes == info.param_bytes &&
           (arguments != nullptr || info.param_bytes == 0) && slice_count <= info.param_count &&
           (slices != nullptr || slice_count == 0) && fits_device(context.device().info(), shape);
  }
  /// The launch with the caller's buffer, for a call without slices.
  KernelLaunch launch() const { return {function, shape, arguments, arguments_size_bytes, {}, {}}; }
};

LaunchShape shape_of(const km_launch_config& config);

/// True for a valid access declaration.
inline bool is_access(km_access access) {
  return access >= KM_ACCESS_UNKNOWN && access <= KM_ACCESS_READ_WRITE;
}
/// The error for an invalid access declaration; `what` names its parameter.
Error bad_access(const std::string& what, km_access access);
inline AccessKind access_of(km_access access) {
  return access == KM_ACCESS_READ ? AccessKind::kRead : AccessKind::kWrite;
}

/// The laid out arguments of one call; usual sizes need no allocation.
class KernelArguments {
 public:
  explicit KernelArguments(const KernelCall& kernel) : kernel_(kernel) {}
  /// Checks the call and resolves the slices. Slice: km_launch_slice or km_launch_operand.
  template <class Slice>
  Status resolve(Call& call);
  /// The launch, after resolve(). It refers to this object and to the caller's buffer.
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
  // Constructed as needed.
  alignas(MemoryUse) std::byte few_uses_[kInlineSlices * sizeof(MemoryUse)];
  std::unique_ptr<std::byte[]> many_bytes_;
  std::unique_ptr<Memory*[]> many_memories_;
  std::unique_ptr<std::byte[]> many_uses_;
  std::byte* bytes_ = few_bytes_;
  Memory** memories_ = few_memories_;
  MemoryUse* uses_ = reinterpret_cast<MemoryUse*>(few_uses_);
  size_t memory_count_ = 0, use_count_ = 0;
};

}  // namespace km
