// The code of one kernel for blocks of one shape.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "backends/vulkan/device/epoch.h"
#include "spirv/spirv.h"

namespace km::vulkan {

/// The specialisation constants of a pipeline, by spirv::SpecialisationConstant.
using BlockShape = std::array<uint32_t, 4>;

/// The pipelines of a kernel, each made when it is first asked for.
class Pipelines {
 public:
  Pipelines(std::shared_ptr<Epoch> epoch, bool needs_subgroup_32)
      : epoch_(std::move(epoch)), needs_subgroup_32_(needs_subgroup_32) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// The pipeline for a shape. `translate` gives the kernel's SPIR-V and is called once.
  template <class Translate>
  Result<VkPipeline> find_or_make(const BlockShape& shape, Translate translate) {
    const std::lock_guard lock(mutex_);
    if (const auto found = made_.find(shape); found != made_.end()) return found->second;
    if (shader_ == VK_NULL_HANDLE) {
      KM_ASSIGN(const spirv::Code code, translate());
      KM_TRY(load(code));
    }
    return make(shape);
  }
  /// Valid once there is a pipeline.
  VkPipelineLayout layout() const { return layout_; }

 private:
  Status load(const spirv::Code& code);
  Result<VkPipeline> make(const BlockShape& shape);

  const std::shared_ptr<Epoch> epoch_;
  const bool needs_subgroup_32_;
  std::mutex mutex_;  // guards the members below
  VkShaderModule shader_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::map<BlockShape, VkPipeline> made_;
};

}  // namespace km::vulkan
