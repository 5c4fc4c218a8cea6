#include "backend/loader.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/callback/contained_call.h"
#include "base/env.h"
#include "base/log.h"
#include "base/memory/host_allocator.h"
#include "base/process/dylib.h"
#include "km_version.h"

namespace km {
namespace {

constexpr const char* kEntryPoint = "km_backend_plugin";

// The entries are consecutive pointers, from the first to the optional ones at the end.
constexpr size_t kFirstEntry = offsetof(kmb_backend, initialize);
static_assert((KMB_REQUIRED_SIZE - kFirstEntry) % sizeof(void*) == 0);

bool has_required_entries(const kmb_backend& table) {
  for (size_t at = kFirstEntry; at < KMB_REQUIRED_SIZE; at += sizeof(void*)) {
    void* entry = nullptr;
    std::memcpy(&entry, reinterpret_cast<const char*>(&table) + at, sizeof entry);
    if (entry == nullptr) return false;
  }
  return true;
}

}  // namespace

std::string plugin_path(const std::string& name) {
  const std::string file = "libkernelmill-" + name + ".so";
  if (const std::optional<std::string> folder = env(EnvVar::KM_PLUGIN_DIR)) {
    return *folder + "/" + file;
  }
  const std::string own = folder_of_code(reinterpret_cast<const void*>(&plugin_path));
  const std::string installed = own + "/kernelmill-" KM_VERSION_STRING "/" + file;
  // The CUDA driver library is in a subfolder of the plugins' folder.
  const std::string beside = own + "/../" + file;
  return access(installed.c_str(), F_OK) != 0 && access(beside.c_str(), F_OK) == 0 ? beside
                                                                                   : installed;
}

Result<const kmb_backend*> load_plugin(const std::string& name) {
  const std::string path = plugin_path(name);
  if (access(path.c_str(), F_OK) != 0) {
    return make_error(KM_ERROR_BACKEND_UNAVAILABLE,
                      "backend '%s' is not installed: there is no %s; install the whole of "
                      "Kernelmill, or set KM_PLUGIN_DIR to the folder that holds the file",
                      name.c_str(), path.c_str());
  }
  Result<Dylib> library = Dylib::open(path);
  if (!library) {
    return make_error(KM_ERROR_BACKEND_UNAVAILABLE, "backend '%s' cannot be loaded: %s",
                      name.c_str(), library.error().message.c_str());
  }
  const auto entry = library->function<kmb_plugin_entry>(kEntryPoint);
  const kmb_backend* table = entry != nullptr ? entry() : nullptr;
  if (table == nullptr) {
    return make_error(KM_ERROR_BUILD_MISMATCH, "%s is not a backend plugin: it lacks %s",
                      path.c_str(), kEntryPoint);
  }
  log(LogLevel::kDebug, "loader", "loaded %s", path.c_str());
  return table;
}

Status check_table(const kmb_backend& found, kmb_backend* out_table) {
  if (found.abi_major != KMB_ABI_MAJOR || found.size < kFirstEntry) {
    return make_error(KM_ERROR_BUILD_MISMATCH,
                      "the plugin has backend interface %u, this library %u; both must come from "
                      "one build",
                      found.abi_major, KMB_ABI_MAJOR);
  }
  if (found.build_id == nullptr || std::strcmp(found.build_id, KM_BUILD_ID) != 0) {
    return make_error(KM_ERROR_BUILD_MISMATCH,
                      "the plugin of backend '%s' has build id %s, this library %s; restart the "
                      "program after an upgrade, and install both from one build",
                      found.name, found.build_id != nullptr ? found.build_id : "(none)",
                      KM_BUILD_ID);
  }
  *out_table = {};
  std::memcpy(out_table, &found, std::min<size_t>(found.size, sizeof *out_table));
  if (!has_required_entries(*out_table)) {
    return make_error(KM_ERROR_BUILD_MISMATCH, "backend '%s' lacks entries of interface %u.%u",
                      found.name, KMB_ABI_MAJOR, KMB_ABI_MINOR);
  }
  return {};
}

Status initialize_backend(const kmb_backend& table) {
  const auto take_end = []() -> uint32_t { return take_thread_end() ? 1 : 0; };
  static const kmb_host kHost{sizeof(kmb_host),      0,       KM_BUILD_ID, &log_text,
                              host_allocator_cell(), take_end};
  kmb_error error;
  error.native_code = 0;
  error.message[0] = '\0';
  const km_status status = table.initialize(&kHost, &error);
  if (status == KM_SUCCESS) return {};
  error.message[sizeof error.message - 1] = '\0';
  return Error{status, error.message, error.native_code};
}

}  // namespace km
