#include "dropin/library/own_files.h"

#include <string>

#include "base/process/dylib.h"

namespace km::library {
namespace {

namespace fs = std::filesystem;

/// The folder that holds the folders of single CUDA versions, one of which holds this code.
fs::path own_folder() {
  const std::string own = folder_of_code(reinterpret_cast<const void*>(&own_folder));
  std::error_code ignored;
  return fs::weakly_canonical(fs::path(own), ignored).parent_path();
}

}  // namespace

bool is_own_file(const fs::path& path) {
  static const fs::path own = own_folder();
  std::error_code ignored;
  const fs::path folder = fs::weakly_canonical(path, ignored).parent_path();
  return folder == own || folder.parent_path() == own;
}

}  // namespace km::library
