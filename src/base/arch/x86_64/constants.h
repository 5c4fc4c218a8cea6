// base/arch/constants.h for x86-64.
#pragma once

#include <cstdint>

namespace km::arch {

/// The architecture's name in messages.
constexpr const char* kName = "x86-64";
/// The smallest page that a machine may have: memory within one is there or is not.
constexpr uint64_t kLeastPageBytes = 4096;
/// The largest page that a machine may have, but for huge ones: mappings are multiples of it.
constexpr uint64_t kMostPageBytes = 4096;
/// EM_X86_64 of elf.h, which cannot be included together with LLVM's.
constexpr uint16_t kElfMachine = 62;

}  // namespace km::arch

/// Debian's folder for libraries of the architecture.
#define KM_LIBRARY_FOLDER "x86_64-linux-gnu"
/// NVIDIA's folder for libraries of the architecture in a toolkit.
#define KM_TOOLKIT_FOLDER "x86_64-linux"
