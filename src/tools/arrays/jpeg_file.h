#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

/// u8[height, width, channels], 1 channel for grey images and 3 for others.
Result<Array> read_jpeg(const std::string& path);

}  // namespace km::tools
