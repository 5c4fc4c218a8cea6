// The search for NVRTC and the CUDA headers on this machine.
#pragma once

#include <string>
#include <vector>

namespace km {

/// The surroundings that the search reads; kept apart from the search so that tests can make their
/// own.
struct NvrtcSurroundings {
  std::string km_nvrtc;                      ///< a library or a folder; then nothing else counts
  std::vector<std::string> code_folders;     ///< of this library and of the program
  std::vector<std::string> package_folders;  ///< Python's, of libraries that the process has loaded
  std::vector<std::string> python_prefixes;  ///< environments that may hold the wheels
  std::vector<std::string> data_folders;     ///< folders kernelmill of the user's data
  std::vector<std::string> toolkits;         ///< folders of CUDA toolkits, the preferred one first
  bool use_loader_path = true;
};
NvrtcSurroundings nvrtc_surroundings();
/// The folders of Python packages from which the process has loaded libraries.
std::vector<std::string> loaded_package_folders();

struct NvrtcSearch {
  std::vector<std::string> candidates;  ///< files that exist, then names for the loader
  std::string looked_at;                ///< the places, for people
};
NvrtcSearch search_nvrtc(const NvrtcSurroundings& surroundings);

/// The folders of CUDA headers that belong to an NVRTC: KM_CUDA_INCLUDE, then those beside it.
std::vector<std::string> cuda_include_dirs(const std::string& library_path);

}  // namespace km
