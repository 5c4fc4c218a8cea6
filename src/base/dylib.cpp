#include "base/dylib.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <memory>

namespace km {
namespace {

std::string real_path(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path, nullptr), std::free);
  return real ? std::string(real.get()) : std::string(path);
}

}  // namespace

Result<Dylib> Dylib::open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return Dylib(handle);
  const char* reason = dlerror();
  return make_error(KM_ERROR_NOT_FOUND, "%s", reason != nullptr ? reason : "unknown reason");
}

void* Dylib::symbol(const char* name) const { return dlsym(handle_, name); }

std::string Dylib::path() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  return map->l_name;
}

std::string folder_of_code(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = real_path(info.dli_fname);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

}  // namespace km
