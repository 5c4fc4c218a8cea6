// The text of a module from a file, and the program that it is.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simt/engine.h"

namespace km::code_hashes {

/// The text of one module. A table names it by `name`, which stays the same from build to build.
struct ModuleText {
  std::string name;
  std::string ptx;
  std::string error;  // the reason why there is no PTX: the compiler's message
};

/// Reads a .ptx file, or has NVRTC compile a .cu file with these options besides the include path.
ModuleText read_module(const std::filesystem::path& path, std::string name,
                       std::vector<std::string> options);

/// Parses, checks and analyses the module.
Result<std::shared_ptr<const simt::Program>> load(const ModuleText& text);

}  // namespace km::code_hashes
