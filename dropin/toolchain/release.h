// The release of CUDA that the stand-ins of its tools report, and what follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace km::toolchain {

/// A release of CUDA: 12.9.
struct Release {
  uint32_t major = 0, minor = 0;

  /// The newest PTX ISA that this release's assembler knows, as 10 * major + minor.
  uint32_t isa_version() const;
  std::string text() const;
};

/// The release that commands report: KM_CUDA_RELEASE, by default the newest that programs written
/// for CUDA 12 understand.
Release command_release();

/// The answer to --version of the command `name` whose purpose is `title`, in NVIDIA's form.
std::string version_text(std::string_view name, std::string_view title);

/// All PTX ISA versions up to one, and all architectures, oldest first.
std::vector<uint32_t> isa_versions(uint32_t newest);
std::vector<uint32_t> architectures();

}  // namespace km::toolchain
