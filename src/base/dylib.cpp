#include "base/dylib.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/file.h"

namespace km {
namespace {

std::string real_path(const char* path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path, nullptr), std::free);
  return real ? std::string(real.get()) : std::string(path);
}

// The sanitizers refuse RTLD_DEEPBIND: there, a library that the host has loaded globally counts.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kOwnSymbolsFirst = 0;
#else
constexpr int kOwnSymbolsFirst = RTLD_DEEPBIND;
#endif

Status copy_file(const std::string& path, int to) {
  KM_ASSIGN(const File from, open_file(path));
  struct stat about{};
  if (fstat(from.get(), &about) != 0) return file_error("copy", path, errno);
  const WriteSignalGuard guard;
  off_t at = 0;
  while (at < about.st_size) {
    const ssize_t count = sendfile(to, from.get(), &at, static_cast<size_t>(about.st_size - at));
    if (count <= 0) return file_error("copy", path, count == 0 ? EIO : errno);
  }
  return {};
}

/// The loader opens what it is given, and waits for ever for the writer of a pipe.
Status check_not_special(const std::string& path) {
  struct stat about{};
  if (path.find('/') == std::string::npos || stat(path.c_str(), &about) != 0) return {};
  if (S_ISREG(about.st_mode)) return {};
  return make_error(KM_ERROR_NOT_FOUND, "%s: it is %s, not a shared library", path.c_str(),
                    file_kind_name(about.st_mode));
}

}  // namespace

Result<Dylib> Dylib::open_private(const std::string& path) {
  // Another file: the loader tells libraries apart by that.
  KM_ASSIGN(File copy, create_memory_file("kernelmill-private-library", 0));
  KM_TRY(copy_file(path, copy.get()));
  const std::string name = "/proc/self/fd/" + std::to_string(copy.get());
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | kOwnSymbolsFirst);
  if (handle != nullptr) {
    // The descriptor stays open: the loader takes another file of this name for the same library.
    copy.release();
    return Dylib(handle);
  }
  const char* reason = dlerror();
  return make_error(KM_ERROR_NOT_FOUND, "%s: %s", path.c_str(),
                    reason != nullptr ? reason : "unknown reason");
}

std::vector<std::string> loader_folders() {
  std::vector<std::string> folders;
  void* const self = dlopen(nullptr, RTLD_NOW);
  Dl_serinfo size;
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<char> buffer(size.dls_size);
  auto* const info = reinterpret_cast<Dl_serinfo*>(buffer.data());
  *info = size;
  if (dlinfo(self, RTLD_DI_SERINFO, info) != 0) return folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
  return folders;
}

Result<Dylib> Dylib::open(const std::string& path) {
  KM_TRY(check_not_special(path));
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
