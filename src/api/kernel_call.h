// The arguments of a kernel as bindings give them: one buffer, and slices to be put into it.
#pragma once

#include <memory>
#include <span>

#include "api/call.h"
#include "core/launch.h"

namespace km {

/// What a call that names a kernel and all its arguments works on.
struct KernelCall {
  Context& context;
  Function& function;
  LaunchShape shape;
  const void* arguments;
  uint64_t arguments_size_bytes;
  const km_launch_slice* slices;
  uint64_t slice_count;
};

LaunchShape shape_of(const km_launch_config& config);
/// Everything but the slices' handles.
Status check_kernel_call(const KernelCall& kernel);

/// The laid out arguments of one call, with room on the stack for those of any usual kernel.
class KernelArguments {
 public:
  explicit KernelArguments(const KernelCall& kernel) : kernel_(kernel) {}
  /// Resolves the slices. What it gives lies in this object and in the caller's buffer.
  Result<KernelLaunch> resolve(Call& call);

 private:
  static constexpr uint64_t kInlineBytes = 1024;
  static constexpr uint64_t kInlineSlices = 16;
  void make_room();
  Status place(Call& call, uint64_t index);

  const KernelCall& kernel_;
  alignas(16) std::byte few_bytes_[kInlineBytes];
  Memory* few_memories_[kInlineSlices];
  std::unique_ptr<std::byte[]> many_bytes_;
  std::unique_ptr<Memory*[]> many_memories_;
  std::byte* bytes_ = few_bytes_;
  Memory** memories_ = few_memories_;
};

}  // namespace km
