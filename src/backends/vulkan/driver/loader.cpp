#include "backends/vulkan/driver/loader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/driver/result.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"
#include "km_version.h"

namespace km::vulkan {
namespace {

constexpr const char* kLibrary = "libvulkan.so.1";
constexpr const char* kValidation = "VK_LAYER_KHRONOS_validation";

InstanceFunctions g_functions;
VkInstance g_instance = VK_NULL_HANDLE;  // never destroyed: threads may use it until the end

Error unavailable(const std::string& text) { return {KM_ERROR_BACKEND_UNAVAILABLE, text, 0}; }

/// Writes the layer's message; no test passes with one in its output.
VkBool32 VKAPI_CALL log_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                VkDebugUtilsMessageTypeFlagsEXT,
                                const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  log(LogLevel::kError, "vulkan", "the validation layer says: %s", data->pMessage);
  return VK_FALSE;  // the call goes on
}

constexpr VkDebugUtilsMessengerCreateInfoEXT kMessenger = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .pNext = nullptr,
    .flags = 0,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
    .pfnUserCallback = log_message,
    .pUserData = nullptr};

Status require_validation_layer() {
  uint32_t count = 0;
  g_functions.vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  g_functions.vkEnumerateInstanceLayerProperties(&count, layers.data());
  const bool is_there = std::any_of(layers.begin(), layers.end(), [](const auto& layer) {
    return std::strcmp(layer.layerName, kValidation) == 0;
  });
  if (is_there) return {};
  return unavailable(std::string("KM_VULKAN_VALIDATION asks for ") + kValidation +
                     ", which is not installed (vulkan-validationlayers of Debian has it)");
}

Status create_instance(bool is_validated) {
  uint32_t version = VK_API_VERSION_1_0;
  g_functions.vkEnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2) {
    return unavailable("the Vulkan loader is made for Vulkan " + version_text(version) +
                       "; 1.2 is needed: install a newer libvulkan.so.1");
  }
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .pNext = nullptr,
                                         .pApplicationName = "kernelmill",
                                         .applicationVersion = 0,
                                         .pEngineName = "kernelmill " KM_VERSION_STRING,
                                         .engineVersion = 0,
                                         .apiVersion = VK_API_VERSION_1_3};
  const char* const layers[] = {kValidation};
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pNext = nullptr,
                               .flags = 0,
                               .pApplicationInfo = &application,
                               .enabledLayerCount = 0,
                               .ppEnabledLayerNames = layers,
                               .enabledExtensionCount = 0,
                               .ppEnabledExtensionNames = extensions};
  if (is_validated) {
    KM_TRY(require_validation_layer());
    info.enabledLayerCount = info.enabledExtensionCount = 1;
    info.pNext = &kMessenger;  // for the making of the instance itself
  }
  const VkResult made = g_functions.vkCreateInstance(&info, nullptr, &g_instance);
  if (made == VK_SUCCESS) return {};
  return unavailable("Vulkan cannot start: vkCreateInstance gave " + result_text(made) +
                     "; check vulkaninfo, and install a Vulkan driver");
}

template <class Function>
bool look_up(PFN_vkGetInstanceProcAddr find, VkInstance instance, const char* name,
             Function* out_function) {
  *out_function = reinterpret_cast<Function>(find(instance, name));
  return *out_function != nullptr;
}

Status look_up_global(PFN_vkGetInstanceProcAddr find) {
#define KM_VK_GLOBAL(name)                                               \
  if (!look_up(find, VK_NULL_HANDLE, #name, &g_functions.name)) {        \
    return unavailable("the Vulkan loader is too old: it lacks " #name); \
  }
#define KM_VK_INSTANCE(name)
#define KM_VK_DEVICE(name)
#define KM_VK_OPTIONAL(name)
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
  return {};
}

Status look_up_instance(PFN_vkGetInstanceProcAddr find) {
#define KM_VK_GLOBAL(name)
#define KM_VK_INSTANCE(name)                                  \
  if (!look_up(find, g_instance, #name, &g_functions.name)) { \
    return unavailable("the Vulkan loader lacks " #name);     \
  }
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
#undef KM_VK_DEVICE
#undef KM_VK_OPTIONAL
  return {};
}

Status watch_messages(PFN_vkGetInstanceProcAddr find) {
  PFN_vkCreateDebugUtilsMessengerEXT create = nullptr;
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  if (!look_up(find, g_instance, "vkCreateDebugUtilsMessengerEXT", &create) ||
      create(g_instance, &kMessenger, nullptr, &messenger) != VK_SUCCESS) {
    return unavailable("the validation layer takes no messenger (VK_EXT_debug_utils)");
  }
  return {};
}

}  // namespace

namespace {

const DriverInterface* g_interface = &kVulkanInterface;

/// Opens the loader library.
Result<PFN_vkGetInstanceProcAddr> open_loader() {
  static std::optional<Dylib> library;  // never closed; the registry loads the backend once
  const std::optional<std::string> chosen = env(EnvVar::KM_VULKAN);
  Result<Dylib> opened = Dylib::open(chosen.value_or(kLibrary));
  if (!opened) {
    return unavailable("the Vulkan loader cannot be opened: " + opened.error().message + "; " +
                       (chosen ? "correct KM_VULKAN or unset it"
                               : "install it (libvulkan1 of Debian) and a Vulkan driver"));
  }
  library = std::move(*opened);
  const auto find = library->function<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
  if (find == nullptr) {
    return unavailable(library->path() + " is no Vulkan loader: it lacks vkGetInstanceProcAddr");
  }
  log(LogLevel::kInfo, "vulkan", "loader %s", library->path().c_str());
  return find;
}

}  // namespace

constinit const DriverInterface kVulkanInterface = {.name = "vulkan",
                                                    .title = "Vulkan",
                                                    .has_arena = false,
                                                    .open = open_loader,
                                                    .refusal_of = nullptr};

const DriverInterface& driver_interface() { return *g_interface; }
void use_driver_interface(const DriverInterface& chosen) { g_interface = &chosen; }

const InstanceFunctions& instance_functions() { return g_functions; }

Status load_instance() {
  KM_ASSIGN(const bool is_wanted, env_flag(EnvVar::KM_VULKAN_VALIDATION, false));
  const bool is_validated = is_wanted && g_interface == &kVulkanInterface;
  KM_ASSIGN(const PFN_vkGetInstanceProcAddr find, driver_interface().open());
  KM_TRY(look_up_global(find));
  KM_TRY(create_instance(is_validated));
  KM_TRY(look_up_instance(find));
  if (is_validated) KM_TRY(watch_messages(find));
  return {};
}

Result<std::vector<VkPhysicalDevice>> physical_devices() {
  uint32_t count = 0;
  KM_TRY(check(g_functions.vkEnumeratePhysicalDevices(g_instance, &count, nullptr),
               "vkEnumeratePhysicalDevices"));
  std::vector<VkPhysicalDevice> devices(count);
  KM_TRY(check(g_functions.vkEnumeratePhysicalDevices(g_instance, &count, devices.data()),
               "vkEnumeratePhysicalDevices"));
  devices.resize(count);
  return devices;
}

namespace {

/// Ended<Function>::call does nothing, and fails if it gives a VkResult.
template <class Function>
struct Ended;

template <class Given, class... Taken>
struct Ended<Given(VKAPI_PTR*)(Taken...)> {
  static VKAPI_ATTR Given VKAPI_CALL call(Taken...) {
    if constexpr (std::is_same_v<Given, VkResult>) {
      return VK_ERROR_DEVICE_LOST;
    } else {
      return Given();
    }
  }
};

}  // namespace

const DeviceFunctions& ended_functions() {
  static constexpr DeviceFunctions kEnded{
#define KM_VK_GLOBAL(name)
#define KM_VK_INSTANCE(name)
#define KM_VK_DEVICE(name) .name = Ended<PFN_##name>::call,
#define KM_VK_OPTIONAL(name) .name = Ended<PFN_##name>::call,
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
#undef KM_VK_DEVICE
#undef KM_VK_OPTIONAL
  };
  return kEnded;
}

Result<DeviceFunctions> device_functions(VkDevice device) {
  DeviceFunctions found;
  const PFN_vkGetDeviceProcAddr find = g_functions.vkGetDeviceProcAddr;
#define KM_VK_GLOBAL(name)
#define KM_VK_INSTANCE(name)
#define KM_VK_DEVICE(name)                                             \
  found.name = reinterpret_cast<PFN_##name>(find(device, #name));      \
  if (found.name == nullptr) {                                         \
    return unavailable("the Vulkan driver lacks the function " #name); \
  }
#define KM_VK_OPTIONAL(name) found.name = reinterpret_cast<PFN_##name>(find(device, #name));
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
#undef KM_VK_DEVICE
#undef KM_VK_OPTIONAL
  return found;
}

}  // namespace km::vulkan
