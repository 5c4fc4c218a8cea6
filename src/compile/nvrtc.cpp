#include "compile/nvrtc.h"

#include <optional>

#include "base/log.h"
#include "base/process/dylib.h"
#include "compile/compiler_thread.h"
#include "compile/find.h"

namespace km {
namespace {

constexpr int kOldestMajor = 11;

Result<NvrtcApi> bind(const Dylib& library) {
  NvrtcApi api;
#define X(required, result, name, parameters)                                      \
  api.name = library.function<result(*) parameters>(#name);                        \
  if (required && api.name == nullptr) {                                           \
    return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "it does not export %s", #name); \
  }
#include "compile/nvrtc_symbols.inc"
#undef X
  return api;
}

std::vector<int> supported_architectures(const NvrtcApi& api) {
  int count = 0;
  if (api.nvrtcGetNumSupportedArchs == nullptr || api.nvrtcGetSupportedArchs == nullptr ||
      api.nvrtcGetNumSupportedArchs(&count) != kNvrtcSuccess || count <= 0) {
    return {};
  }
  std::vector<int> architectures(static_cast<size_t>(count));
  if (api.nvrtcGetSupportedArchs(architectures.data()) != kNvrtcSuccess) return {};
  return architectures;
}

Result<Nvrtc> find_and_load() {
  const NvrtcSearch search = search_nvrtc(nvrtc_surroundings());
  std::string failures;
  for (const std::string& candidate : search.candidates) {
    Result<Nvrtc> loaded = load_nvrtc(candidate);
    if (loaded) {
      log(LogLevel::kInfo, "compile", "NVRTC %d.%d at %s", loaded->info.major, loaded->info.minor,
          loaded->info.path.c_str());
      return loaded;
    }
    log(LogLevel::kDebug, "compile", "NVRTC: %s", loaded.error().message.c_str());
    // It is normal that the loader does not know a bare name, but an existing file that fails is
    // reported.
    if (candidate.find('/') != std::string::npos) failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_NVRTC_UNAVAILABLE,
      "NVRTC, which compiles CUDA C++ to PTX, was not found. Run 'kernelmill setup', which brings "
      "it into your folder, or install the CUDA toolkit, or set KM_NVRTC to the library or to its "
      "folder. PTX runs without it. Looked at: %s%s",
      search.looked_at.c_str(), failures.c_str());
}

}  // namespace

namespace {

/// NVRTC loads its helper library by name, which fails if the loader does not search its folder,
/// for example under AddressSanitizer. A library that is already loaded is found by any name.
void load_builtins(const NvrtcInfo& info) {
  const std::string folder = info.path.substr(0, info.path.find_last_of('/') + 1);
  static_cast<void>(Dylib::open(folder + "libnvrtc-builtins.so." + std::to_string(info.major) +
                                "." + std::to_string(info.minor)));
}

}  // namespace

namespace {

int forget_destructor(void (*)(void*), void*, void*) { return 0; }

/// NVRTC's constructors and compilations register destructors, which exit() would run while the
/// compiler's thread may still be working. The overrides drop these registrations; the memory ends
/// with the process. malloc stays the host program's own if it has replaced it.
std::vector<ImportOverride> nvrtc_overrides() {
  std::vector<ImportOverride> overrides = {
      {"__cxa_atexit", reinterpret_cast<const void*>(&forget_destructor)}};
  for (const char* const name : {"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc",
                                 "posix_memalign", "malloc_usable_size"}) {
    if (const void* const function = symbol_of_process(name)) overrides.push_back({name, function});
  }
  return overrides;
}

Result<Dylib> open_nvrtc(const std::string& path) {
  Result<Dylib> library = Dylib::open_overriding(path, nvrtc_overrides());
  if (library) return library;
  log(LogLevel::kDebug, "compile", "NVRTC: %s", library.error().message.c_str());
  return Dylib::open(path);
}

/// Applies what is still possible to a library that was opened without the overrides, here or by
/// the host program: destructors of its constructors are registered already, those of its
/// compilations will not be.
void keep_static_objects(const Dylib& library) {
  if (library.replace_import("__cxa_atexit", reinterpret_cast<void*>(&forget_destructor))) return;
  log(LogLevel::kDebug, "compile", "NVRTC's destructors stay registered");
}

}  // namespace

Result<Nvrtc> load_nvrtc(const std::string& path) {
  Result<Dylib> library = open_nvrtc(path);
  if (!library) {
    return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "%s", library.error().message.c_str());
  }
  Result<NvrtcApi> api = bind(*library);
  if (!api) {
    return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "%s is not NVRTC: %s", path.c_str(),
                      api.error().message.c_str());
  }
  Nvrtc result{*api, {}};
  result.info.path = library->path();
  if (api->nvrtcVersion(&result.info.major, &result.info.minor) != kNvrtcSuccess ||
      result.info.major < kOldestMajor) {
    return make_error(KM_ERROR_NVRTC_UNAVAILABLE, "%s is NVRTC %d.%d; 11.0 or newer is needed",
                      path.c_str(), result.info.major, result.info.minor);
  }
  keep_static_objects(*library);
  load_builtins(result.info);
  result.info.architectures = supported_architectures(*api);
  result.info.include_dirs = cuda_include_dirs(result.info.path);
  return result;
}

namespace {

/// Runs on the compiler thread, because the caller's stack may be small.
Result<Nvrtc> load_on_thread() {
  std::optional<Result<Nvrtc>> loaded;
  KM_TRY(run_on_compiler_thread([&] { loaded = find_and_load(); }));
  return std::move(*loaded);
}

}  // namespace

Result<const Nvrtc*> nvrtc() {
  static const Result<Nvrtc> loaded = load_on_thread();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Result<NvrtcInfo> nvrtc_info() {
  KM_ASSIGN(const Nvrtc* const loaded, nvrtc());
  return loaded->info;
}

}  // namespace km
