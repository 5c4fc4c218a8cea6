#include "backends/vulkan/module/pipeline.h"

#include "simt/abi.h"

namespace km::vulkan {

Pipelines::~Pipelines() {
  const DeviceFunctions& vk = epoch_->vk();
  for (const auto& [shape, pipeline] : made_) {
    vk.vkDestroyPipeline(epoch_->device(), pipeline, nullptr);
  }
  vk.vkDestroyPipelineLayout(epoch_->device(), layout_, nullptr);
  vk.vkDestroyShaderModule(epoch_->device(), shader_, nullptr);
}

Status Pipelines::load(const spirv::Code& code) {
  const DeviceFunctions& vk = epoch_->vk();
  if (layout_ == VK_NULL_HANDLE) {
    const VkPushConstantRange range{.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                    .offset = 0,
                                    .size = sizeof(spirv::PushConstants)};
    const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .pNext = nullptr,
                                            .flags = 0,
                                            .setLayoutCount = 0,
                                            .pSetLayouts = nullptr,
                                            .pushConstantRangeCount = 1,
                                            .pPushConstantRanges = &range};
    KM_TRY(epoch_->check(vk.vkCreatePipelineLayout(epoch_->device(), &layout, nullptr, &layout_),
                         "vkCreatePipelineLayout"));
  }
  const VkShaderModuleCreateInfo shader{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .codeSize = code.size() * sizeof code[0],
                                        .pCode = code.data()};
  return epoch_->check(vk.vkCreateShaderModule(epoch_->device(), &shader, nullptr, &shader_),
                       "vkCreateShaderModule");
}

Result<VkPipeline> Pipelines::make(const BlockShape& shape) {
  std::array<VkSpecializationMapEntry, std::tuple_size_v<BlockShape>> entries{};
  for (uint32_t i = 0; i < entries.size(); ++i) {
    entries[i] = {.constantID = i, .offset = i * 4, .size = sizeof shape[0]};
  }
  const VkSpecializationInfo constants{.mapEntryCount = static_cast<uint32_t>(entries.size()),
                                       .pMapEntries = entries.data(),
                                       .dataSize = sizeof shape,
                                       .pData = shape.data()};
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup{
      .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .pNext = nullptr,
      .requiredSubgroupSize = simt::kWarpLanes};
  const VkComputePipelineCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .pNext = nullptr,
      .flags = 0,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .pNext = needs_subgroup_32_ ? &subgroup : nullptr,
                .flags = needs_subgroup_32_
                             ? static_cast<VkPipelineShaderStageCreateFlags>(
                                   VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT)
                             : 0,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = shader_,
                .pName = "main",
                .pSpecializationInfo = &constants},
      .layout = layout_,
      .basePipelineHandle = VK_NULL_HANDLE,
      .basePipelineIndex = 0};
  VkPipeline pipeline = VK_NULL_HANDLE;
  KM_TRY(
      epoch_->check(epoch_->vk().vkCreateComputePipelines(
                        epoch_->device(), epoch_->pipeline_cache(), 1, &info, nullptr, &pipeline),
                    "vkCreateComputePipelines"));
  made_.emplace(shape, pipeline);
  return pipeline;
}

}  // namespace km::vulkan
