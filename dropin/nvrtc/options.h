// Compilation options with a virtual architecture in place of a real one.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace km::nvrtc {

/// The options that NVIDIA's library receives: the program's, with compute_89 in place of sm_89.
/// Options for link-time intermediate code (-dlto) are unchanged.
class VirtualOptions {
 public:
  /// The strings stay the caller's and must outlive this object.
  explicit VirtualOptions(std::span<const char* const> options);
  VirtualOptions(const VirtualOptions&) = delete;
  VirtualOptions& operator=(const VirtualOptions&) = delete;

  const char* const* data() const { return options_.data(); }
  /// True if the program asked for machine code.
  bool replaces_machine_code() const { return !replaced_.empty(); }

 private:
  std::vector<const char*> options_;
  std::string replaced_;
};

}  // namespace km::nvrtc
