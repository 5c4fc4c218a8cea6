// Page-locked host memory: copies from and to it are asynchronous.
#pragma once

#include "core/memory/memory.h"

namespace km {

class HostMemory final : public ContextChild {
 public:
  static Result<Ref<HostMemory>> create(Context& context, uint64_t size_bytes);
  static Result<Ref<HostMemory>> register_range(Context& context, void* pointer,
                                                uint64_t size_bytes);

  /// A `size_bytes` of UINT64_MAX maps the file to its end.
  static Result<Ref<HostMemory>> map_file(Context& context, const char* path, uint64_t offset_bytes,
                                          uint64_t size_bytes, km_map_flags flags);

  void* pointer() const { return memory_->host_pointer(); }
  uint64_t size_bytes() const { return memory_->size_bytes(); }

  explicit HostMemory(Ref<Memory> memory)
      : ContextChild(PartOf{*memory}), memory_(std::move(memory)) {}

 private:
  const Ref<Memory> memory_;
};

}  // namespace km
