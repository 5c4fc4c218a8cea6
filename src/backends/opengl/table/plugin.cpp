// The plugin for devices of OpenGL: the backend of Vulkan, on a driver that is made of OpenGL.
#include <cstring>

#include "backend/interface.h"
#include "backends/opengl/table/functions.h"
#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/table/table.h"
#include "shaders/spirv_cross.h"

namespace km::opengl {
namespace {

PFN_vkVoidFunction find_device_function(VkDevice, const char* name) {
  return find_function(nullptr, name);
}

const NamedFunction kInstanceFunctions[] = {
    {"vkEnumerateInstanceVersion", any_function(enumerate_version)},
    {"vkEnumerateInstanceLayerProperties", any_function(enumerate_layers)},
    {"vkEnumerateInstanceExtensionProperties", any_function(enumerate_instance_extensions)},
    {"vkCreateInstance", any_function(create_instance)},
    {"vkEnumeratePhysicalDevices", any_function(enumerate_devices)},
    {"vkGetPhysicalDeviceProperties2", any_function(get_properties)},
    {"vkGetPhysicalDeviceFeatures2", any_function(get_features)},
    {"vkGetPhysicalDeviceMemoryProperties2", any_function(get_memory)},
    {"vkGetPhysicalDeviceQueueFamilyProperties", any_function(get_queue_families)},
    {"vkEnumerateDeviceExtensionProperties", any_function(enumerate_device_extensions)},
    {"vkCreateDevice", any_function(create_device)},
    {"vkGetDeviceProcAddr", any_function(find_device_function)},
};

/// Finds the renderers, and SPIRV-Cross, without which no kernel can run.
Result<PFN_vkGetInstanceProcAddr> open() {
  KM_TRY(shaders::load_spirv_cross());
  KM_ASSIGN(renderers(), find_renderers());
  return PFN_vkGetInstanceProcAddr(find_function);
}

std::string refusal_of(VkPhysicalDevice device) {
  return reinterpret_cast<const Renderer*>(device)->refusal;
}

constexpr vulkan::DriverInterface kInterface = {
    .name = "opengl", .title = "OpenGL", .has_arena = true, .open = open, .refusal_of = refusal_of};

}  // namespace

PFN_vkVoidFunction find_function(VkInstance, const char* name) {
  for (const NamedFunction& one : kInstanceFunctions) {
    if (std::strcmp(name, one.name) == 0) return one.function;
  }
  for (const auto find : {find_memory_function, find_command_function, find_pipeline_function}) {
    if (const PFN_vkVoidFunction found = find(name)) return found;
  }
  return nullptr;
}

}  // namespace km::opengl

extern "C" __attribute__((visibility("default"))) const kmb_backend* km_backend_plugin() {
  return km::vulkan::table_for(km::opengl::kInterface);
}
