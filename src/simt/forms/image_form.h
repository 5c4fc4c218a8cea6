// The instructions of textures and surfaces as data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/image.h"

namespace km::simt::arithmetic {

/// The meaning of an instruction of the family `image`; none: a form that this engine does not run.
std::optional<ImageForm> image_form(const ptx::Instruction& instruction);

/// The index of the operand that names the image.
unsigned image_operand(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
