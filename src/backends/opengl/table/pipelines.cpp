// Shaders and pipelines: GLSL by SPIRV-Cross, of modules whose constants have their values.
#include <cstring>

#include "backends/opengl/device/specialise.h"
#include "backends/opengl/table/functions.h"
#include "base/log.h"
#include "shaders/spirv_cross.h"

namespace km::opengl {
namespace {

VkResult create_shader(VkDevice, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks*,
                       VkShaderModule* out) {
  auto shader = std::make_unique<Shader>();
  shader->words.assign(info->pCode, info->pCode + info->codeSize / sizeof(uint32_t));
  *out = handle_of<VkShaderModule>(std::move(shader));
  return VK_SUCCESS;
}
void destroy_shader(VkDevice, VkShaderModule shader, const VkAllocationCallbacks*) {
  destroyed<Shader>(shader);
}

VkResult create_layout(VkDevice, const VkPipelineLayoutCreateInfo*, const VkAllocationCallbacks*,
                       VkPipelineLayout* out) {
  *out = VK_NULL_HANDLE;
  return VK_SUCCESS;
}
void destroy_layout(VkDevice, VkPipelineLayout, const VkAllocationCallbacks*) {}
VkResult create_cache(VkDevice, const VkPipelineCacheCreateInfo*, const VkAllocationCallbacks*,
                      VkPipelineCache* out) {
  *out = VK_NULL_HANDLE;
  return VK_SUCCESS;
}
void destroy_cache(VkDevice, VkPipelineCache, const VkAllocationCallbacks*) {}
VkResult get_cache(VkDevice, VkPipelineCache, size_t* size, void*) {
  *size = 0;
  return VK_SUCCESS;
}

/// The values of a pipeline's constants by their numbers.
std::map<uint32_t, uint32_t> values_of(const VkSpecializationInfo& info) {
  std::map<uint32_t, uint32_t> values;
  for (uint32_t i = 0; i < info.mapEntryCount; ++i) {
    const VkSpecializationMapEntry& entry = info.pMapEntries[i];
    std::memcpy(&values[entry.constantID], static_cast<const char*>(info.pData) + entry.offset,
                sizeof(uint32_t));
  }
  return values;
}

VkResult create_pipelines(VkDevice device, VkPipelineCache, uint32_t,
                          const VkComputePipelineCreateInfo* info, const VkAllocationCallbacks*,
                          VkPipeline* out) {
  const Shader& shader = *object_of<Shader>(info->stage.module);
  const auto values = values_of(*info->stage.pSpecializationInfo);
  const Result<std::string> text =
      shaders::text_of(specialise(shader.words, values), shaders::Language::glsl, 430);
  if (!text) {
    log(LogLevel::kWarn, "opengl", "%s", text.error().message.c_str());
    return VK_ERROR_FEATURE_NOT_PRESENT;
  }
  uint32_t program = 0;
  device_of(device).worker().run([&](const GlFunctions& gl) { program = link_program(gl, *text); });
  if (program == 0) return VK_ERROR_FEATURE_NOT_PRESENT;
  auto pipeline = std::make_unique<Pipeline>();
  pipeline->program = program;
  *out = handle_of<VkPipeline>(std::move(pipeline));
  return VK_SUCCESS;
}
void destroy_pipeline(VkDevice device, VkPipeline handle, const VkAllocationCallbacks*) {
  const std::unique_ptr<Pipeline> pipeline(object_of<Pipeline>(handle));
  if (!pipeline) return;
  device_of(device).worker().post(
      [program = pipeline->program](const GlFunctions& gl) { gl.DeleteProgram(program); });
}

const NamedFunction kPipelineFunctions[] = {
    {"vkCreateShaderModule", any_function(create_shader)},
    {"vkDestroyShaderModule", any_function(destroy_shader)},
    {"vkCreatePipelineLayout", any_function(create_layout)},
    {"vkDestroyPipelineLayout", any_function(destroy_layout)},
    {"vkCreatePipelineCache", any_function(create_cache)},
    {"vkDestroyPipelineCache", any_function(destroy_cache)},
    {"vkGetPipelineCacheData", any_function(get_cache)},
    {"vkCreateComputePipelines", any_function(create_pipelines)},
    {"vkDestroyPipeline", any_function(destroy_pipeline)},
};

}  // namespace

PFN_vkVoidFunction find_pipeline_function(const char* name) {
  for (const NamedFunction& one : kPipelineFunctions) {
    if (std::strcmp(name, one.name) == 0) return one.function;
  }
  return nullptr;
}

}  // namespace km::opengl
