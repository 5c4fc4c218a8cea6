#include "modules.h"

#include <algorithm>
#include <filesystem>

#include "generator.h"
#include "kernel.h"

namespace km::code_hashes {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kRandomKernels = 240;

}  // namespace

void add_folder(const std::string& folder, std::vector<ModuleText>* modules) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".ptx" || extension == ".cu") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string relative = fs::relative(path, folder).string();
    modules->push_back(read_module(path, fs::path(folder).filename().string() + "/" + relative,
                                   {"--fmad=false", "-std=c++17"}));
  }
}

void add_random(unsigned count, std::vector<ModuleText>* modules) {
  const std::string tests = std::string(KM_SOURCES) + "/tests/";
  const fuzz::Instructions instructions(
      {tests + "reference/refused.txt", tests + "fuzz/refused.txt"});
  for (unsigned i = 0; i < count; ++i) {
    fuzz::Generator generator(instructions, i + 1);
    const std::string name = "random" + std::to_string(i + 1);
    modules->push_back({name, fuzz::module_text({generator.kernel(name)}), {}});
  }
}

void add_repository(std::vector<ModuleText>* modules) {
  for (const char* folder : {"tests/kernels", "tests/data/ptx", "tests/fuzz/found", "bench/kernels",
                             "examples", "docs/internals"}) {
    add_folder(std::string(KM_SOURCES) + "/" + folder, modules);
  }
  add_random(kRandomKernels, modules);
}

}  // namespace km::code_hashes
