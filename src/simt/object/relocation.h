// Relocations of the architecture's objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace km::simt {

/// The bytes that a relocation of this type changes, 0 if none; nothing: no object of ours has it.
std::optional<uint64_t> relocated_bytes(uint32_t type);

/// Makes the instruction or number at `place`, which lies at offset `at` of the image, refer to
/// offset `target`. False: that is too far away.
bool relocate(uint8_t* place, uint32_t type, uint64_t at, uint64_t target);

/// The type's name in messages.
std::string relocation_name(uint32_t type);

}  // namespace km::simt
