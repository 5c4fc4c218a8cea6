// NVIDIA's libraries that a program asks for and Kernelmill does not have.
#pragma once

#include <string>

namespace km::tools {

/// One sentence that names the libraries and says what to do; empty if the program, found as shells
/// find it, is no ELF file or needs none. Libraries that lie in a folder of `library_path` (folders
/// with colons between them) do not count.
std::string missing_libraries(const std::string& program, const std::string& library_path);

}  // namespace km::tools
