#pragma once

#include <string>

#include "base/file/named_file.h"
#include "tools/arrays/array.h"

namespace km::tools {

/// Replaces the file; "-" is standard output.
Status write_output(const std::string& path, const std::string& content);

/// Checks whether `path` could be written, without changing anything.
Status check_output(const std::string& path);
/// Creates the folders of an output path. Failures are ignored here, since check_output reports
/// them.
void make_folder_of(const std::string& path);

/// The size limit of an array's file, from the machine's memory.
uint64_t max_array_bytes();

/// The format follows from the name's ending: arrays are read from .npy, .png, .jpg or .jpeg and
/// written as .npy or .png; "-" prints text.
Result<Array> read_array(const std::string& path);
Status write_array(const std::string& path, const Array& array);
/// Checks whether an array of this type and shape can be written under that name.
Status check_array_file(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape);
bool is_png(const std::string& path);

}  // namespace km::tools
