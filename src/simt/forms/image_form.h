// Decodes the instructions of textures and surfaces to data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/image.h"

namespace km::simt::arithmetic {

/// The meaning of an instruction of the family `image`; none for a form that is not supported.
std::optional<ImageForm> image_form(const ptx::Instruction& instruction);

/// The index of the operand that has the image's handle.
unsigned image_operand(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
