#include "backends/cuda/driver/library_files.h"

#include <filesystem>
#include <system_error>

#include "base/env.h"

namespace km::cuda {

namespace fs = std::filesystem;

std::vector<std::string> cuda_toolkits() {
  std::vector<std::string> found;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto toolkit = foreign_env(name)) found.push_back(*toolkit);
  }
  found.emplace_back("/usr/local/cuda");
  return found;
}

std::vector<std::string> library_candidates(std::span<const LibraryFile> files,
                                            const std::string& named,
                                            const std::vector<std::string>& toolkits,
                                            int driver_version) {
  std::error_code ignored;
  if (!named.empty() && !fs::is_directory(named, ignored)) return {named};
  std::vector<std::string> found;
  const auto add_from = [&](const std::string& folder, const std::string& name) {
    std::string path = folder + "/" + name;
    if (fs::exists(path, ignored)) found.push_back(std::move(path));
  };
  for (const LibraryFile& file : files) {
    // The library is newer than the driver supports, so it loads but cannot start.
    if (!named.empty()) {
      add_from(named, file.name);
    } else if (file.cuda_major <= driver_version / 1000) {
      found.push_back(file.name);
      for (const std::string& toolkit : toolkits) add_from(toolkit + "/lib64", file.name);
    }
  }
  return found;
}

}  // namespace km::cuda
