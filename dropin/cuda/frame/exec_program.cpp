// Programs that `kernelmill exec` runs: this library reports to the command that it was loaded, and
// loads Kernelmill's NVRTC into Python programs.
#include <filesystem>
#include <string>

#include "base/process/dylib.h"
#include "base/process/exec_report.h"
#include "compile/find.h"

namespace km::dropin {
namespace {

/// Loads Kernelmill's NVRTC if the Python environment has an NVRTC package, in that package's
/// version. Python programs ask first whether the process has an NVRTC, then look in the package,
/// then ask the dynamic linker; NVIDIA's library would compile to machine code of GPUs. Does
/// nothing without such a package.
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

/// Tells `kernelmill exec` that the program has loaded the driver.
[[gnu::constructor]] void note_loaded() noexcept {
  try {
    ExecReport* const report = find_exec_report();
    if (report == nullptr) return;
    load_nvrtc_of_python();
    report->opened.store(1, std::memory_order_relaxed);
  } catch (...) {  // no memory for a path: the program still runs without a report
    return;
  }
}

}  // namespace

}  // namespace km::dropin
