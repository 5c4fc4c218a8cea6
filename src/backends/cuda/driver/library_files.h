// The folders and names by which the libraries of a CUDA toolkit are found.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace km::cuda {

/// A version of a library: its file, and the major version of CUDA that it belongs to.
struct LibraryFile {
  std::string name;
  int cuda_major;
};

/// The folders of CUDA toolkits that programs are built with.
std::vector<std::string> cuda_toolkits();

/// The library names to try, best first: those that the driver supports. `files` has the newest
/// first; `named` is the library or its folder, or empty; `toolkits` are folders of CUDA toolkits.
std::vector<std::string> library_candidates(std::span<const LibraryFile> files,
                                            const std::string& named,
                                            const std::vector<std::string>& toolkits,
                                            int driver_version);

}  // namespace km::cuda
