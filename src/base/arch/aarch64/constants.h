// base/arch/constants.h for AArch64.
#pragma once

#include <cstdint>

namespace km::arch {

/// The architecture's name in messages.
constexpr const char* kName = "AArch64";
/// The name that Linux and Python's packages have for it.
constexpr const char* kSystemName = "aarch64";
/// The smallest page size of the architecture: memory within such a page is accessible as a whole
/// or not at all.
constexpr uint64_t kLeastPageBytes = 4096;
/// The largest page size, except for huge pages: the sizes of mappings are multiples of it.
constexpr uint64_t kMostPageBytes = 65536;
/// EM_AARCH64 of elf.h, which cannot be included together with LLVM's headers.
constexpr uint16_t kElfMachine = 183;
/// The byte of which instructions that trap consist: udf #0.
constexpr uint8_t kTrapByte = 0;
/// True if an integer division by zero raises SIGFPE, and does not just give zero.
constexpr bool kDivisionFaults = false;

}  // namespace km::arch

/// The folder of the architecture's libraries on Debian.
#define KM_LIBRARY_FOLDER "aarch64-linux-gnu"
/// The folder of the architecture's libraries in NVIDIA's toolkit, which names servers.
#define KM_TOOLKIT_FOLDER "sbsa-linux"
