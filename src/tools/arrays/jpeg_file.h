#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

/// The image as u8[height, width, channels], with 1 channel for grey and 3 for other images.
Result<Array> read_jpeg(const std::string& path);

}  // namespace km::tools
