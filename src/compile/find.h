// The search for NVRTC and the CUDA headers on this machine.
#pragma once

#include <string>
#include <vector>

namespace km {

/// The environment that the search depends on, separate from the search so that tests can set it.
struct NvrtcSurroundings {
  /// A library or a folder, to which the search is then limited.
  std::string km_nvrtc;
  std::vector<std::string> code_folders;     ///< folders of this library and of the program
  std::vector<std::string> package_folders;  ///< Python's package folders with loaded libraries
  std::vector<std::string> python_prefixes;  ///< environments that may contain the wheels
  std::vector<std::string> data_folders;     ///< the kernelmill folders of the user's data
  std::vector<std::string> toolkits;         ///< folders of CUDA toolkits in order of preference
  bool use_loader_path = true;
};
NvrtcSurroundings nvrtc_surroundings();
/// The folders of Python packages from which the process has loaded libraries.
std::vector<std::string> loaded_package_folders();

struct NvrtcSearch {
  std::vector<std::string> candidates;  ///< existing files, then names for the loader
  std::string looked_at;                ///< the searched places, for messages
};
NvrtcSearch search_nvrtc(const NvrtcSurroundings& surroundings);

/// The folders of the CUDA headers that belong to an NVRTC: KM_CUDA_INCLUDE first, then those
/// beside the library.
std::vector<std::string> cuda_include_dirs(const std::string& library_path);

}  // namespace km
