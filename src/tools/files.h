#pragma once

#include <string>

#include "base/file/named_file.h"
#include "tools/arrays/array.h"

namespace km::tools {

/// Replaces the file; "-" is standard output.
Status write_output(const std::string& path, const std::string& content);

/// Tests if `path` could be written, without touching it.
Status check_output(const std::string& path);
/// Makes the folders that the path of an output leads through; check_output says what is wrong
/// where that cannot be.
void make_folder_of(const std::string& path);

/// The most that an array's file may have: what fits into memory.
uint64_t max_array_bytes();

/// Arrays are read in the format that the name ends with: .npy, .png, .jpg or .jpeg, and written as
/// .npy or .png; "-" writes text on standard output.
Result<Array> read_array(const std::string& path);
Status write_array(const std::string& path, const Array& array);
/// Tests if an array of this type and shape can be written under that name.
Status check_array_file(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape);
bool is_png(const std::string& path);

}  // namespace km::tools
