// Cubins of this project: ELF files for the CUDA machine that hold PTX in place of machine code.
// Programs hand images over without a terminating zero and often without a length, so a container
// knows its own length, and its first 16 bytes tell it from NVIDIA's cubins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ptx/ir.h"

namespace km::toolchain {

/// Properties of a container that are not in its PTX.
struct ContainerTraits {
  uint32_t capability = 0;      // of the GPU that was asked for, 90 for sm_90
  bool is_accelerated = false;  // sm_90a
  bool is_relocatable = false;  // made for a later link (ET_REL)
};

/// A container that was recognised. The text is a part of its bytes.
struct Container {
  std::string_view ptx;  // without the terminating zero
  ContainerTraits traits;
  uint64_t size_bytes = 0;
};

/// Makes the container of a verified module. Its symbol table has the module's kernels, functions
/// and variables, as programs and tools look them up in cubins.
std::string write_container(const ptx::Module& module, std::string_view text,
                            const ContainerTraits& traits);

/// True if an image begins as a container does. It reads up to the first byte that differs, so a
/// short text that ends in a zero is safe without its length.
bool is_container(const char* bytes, uint64_t known_bytes);

/// Reads a container. `known_bytes` UINT64_MAX: trust the lengths in its header. Otherwise all that
/// it says is checked; KM_ERROR_INVALID_PTX if it is damaged or not whole.
Result<Container> read_container(const char* bytes, uint64_t known_bytes);

}  // namespace km::toolchain
