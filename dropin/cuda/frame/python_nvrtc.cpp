#include "dropin/cuda/frame/python_nvrtc.h"

#include <filesystem>
#include <string>

#include "base/process/dylib.h"
#include "compile/find.h"

namespace km::dropin {

void load_nvrtc_of_python() {
  NvrtcSurroundings packages;
  packages.package_folders = loaded_package_folders();
  packages.use_loader_path = false;
  const NvrtcSearch search = search_nvrtc(packages);
  if (search.candidates.empty()) return;
  const std::string name = std::filesystem::path(search.candidates.front()).filename();
  const std::string version = name.substr(name.rfind('.') + 1);  // libnvrtc.so.13
  const std::string own = folder_of_code(reinterpret_cast<const void*>(&load_nvrtc_of_python));
  static_cast<void>(Dylib::open(own + "/" + version + "/" + name));
}

}  // namespace km::dropin
