#include "dropin/nvrtc/nvidia_library.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/process/dylib.h"
#include "compile/find.h"
#include "dropin/library/own_files.h"

namespace km::nvrtc {
namespace {

namespace fs = std::filesystem;

const std::string kOwnName = "libnvrtc.so." + std::to_string(KM_NVRTC_MAJOR);

/// Files that may be NVIDIA's library: those that the loader would find without this one, then
/// those that km_compile finds. Files of this version come first.
std::vector<std::string> candidates(NvrtcSearch& search) {
  const NvrtcSurroundings surroundings = nvrtc_surroundings();
  search = search_nvrtc(surroundings);
  std::vector<std::string> paths;
  const auto add = [&](const std::string& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored) && !library::is_own_file(path)) paths.push_back(path);
  };
  if (surroundings.km_nvrtc.empty()) {
    for (const std::string& folder : loader_folders()) add(folder + "/" + kOwnName);
  }
  for (const std::string& path : search.candidates) add(path);
  std::stable_partition(paths.begin(), paths.end(), [](const std::string& path) {
    return fs::path(path).filename() == kOwnName;
  });
  return paths;
}

/// NVRTC opens its builtins library by name, which fails if the loader does not search its folder.
/// A library that is loaded already is found by name.
void load_builtins(const Dylib& library, const std::string& path) {
  int major = 0, minor = 0;
  const auto version = library.function<int (*)(int*, int*)>("nvrtcVersion");
  if (version == nullptr || version(&major, &minor) != 0) return;
  const fs::path helper =
      fs::path(path).parent_path() /
      ("libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor));
  static_cast<void>(Dylib::open(helper.string()));
}

std::optional<Dylib> load() {
  NvrtcSearch search;
  std::string failures;
  for (const std::string& path : candidates(search)) {
    Result<Dylib> library = Dylib::open_replaced(path);
    if (library && library->symbol("nvrtcCompileProgram") != nullptr) {
      log(LogLevel::kInfo, "cuda", "NVRTC at %s", path.c_str());
      load_builtins(*library, path);
      return *library;
    }
    failures +=
        "; " + path + ": " + (library ? std::string("it is not NVRTC") : library.error().message);
  }
  log(LogLevel::kError, "cuda",
      "the program uses NVRTC, and NVIDIA's %s was not found: run 'kernelmill setup', or set "
      "KM_NVRTC to the library or to its folder. Looked at: the loader's folders, %s%s",
      kOwnName.c_str(), search.looked_at.c_str(), failures.c_str());
  return std::nullopt;
}

}  // namespace

const char* NvrtcLibrary::name_of(nvrtcResult result) noexcept {
  auto* const name = nvidia_function<const char*(nvrtcResult)>("nvrtcGetErrorString");
  return name != nullptr ? name(result) : "NVIDIA's NVRTC was not found (KM_NVRTC)";
}

void* nvidia_function(const char* name) {
  // tried again if an exception for lack of memory ended it
  static const std::optional<Dylib> library = load();
  return library ? library->symbol(name) : nullptr;
}

}  // namespace km::nvrtc
