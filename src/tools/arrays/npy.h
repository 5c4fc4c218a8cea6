// Arrays in NumPy's .npy format, limited to little-endian numbers. The reader is our own because
// Debian has no C++ library for the format. bf16 has the type V2, as the package ml_dtypes saves
// it. Arrays in Fortran order are converted to C order.
#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

Result<Array> read_npy(const std::string& path);
Status write_npy(const std::string& path, const Array& array);

}  // namespace km::tools
