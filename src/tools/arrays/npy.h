// Arrays in NumPy's .npy format. Debian has no library for it that C++ could use, and what is
// needed of the format is this small: numbers in C order, little-endian.
#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

Result<Array> read_npy(const std::string& path);
Status write_npy(const std::string& path, const Array& array);

}  // namespace km::tools
