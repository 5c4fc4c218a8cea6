// PNG images as arrays of u8 [height, width, channels]: grey, grey and alpha, RGB, RGBA.
#pragma once

#include <string>

#include "tools/arrays/array.h"

namespace km::tools {

/// Reads an image; palettes are expanded and 16-bit samples reduced to 8 bits.
Result<Array> read_png(const std::string& path);
Status write_png(const std::string& path, const Array& image);

}  // namespace km::tools
