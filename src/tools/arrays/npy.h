// Arrays in NumPy's .npy format. Debian has no library for it that C++ could use, and what is
// needed of the format is this small: little-endian numbers. bf16 has the type V2, as the package
// ml_dtypes saves it. Arrays in Fortran order are put in C order.
#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

Result<Array> read_npy(const std::string& path);
Status write_npy(const std::string& path, const Array& array);

}  // namespace km::tools
