// Options of a compilation, with a virtual architecture in place of a real one.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace km::nvrtc {

/// The options that NVIDIA's library gets: those of the program, but compute_89 where they name
/// sm_89. Options that ask for intermediate code of the linker's (-dlto) stay as they are.
class VirtualOptions {
 public:
  /// The texts are the caller's, and outlive this.
  explicit VirtualOptions(std::span<const char* const> options);
  VirtualOptions(const VirtualOptions&) = delete;
  VirtualOptions& operator=(const VirtualOptions&) = delete;

  const char* const* data() const { return options_.data(); }
  /// True if the program has asked for machine code.
  bool replaces_machine_code() const { return !replaced_.empty(); }

 private:
  std::vector<const char*> options_;
  std::string replaced_;
};

}  // namespace km::nvrtc
