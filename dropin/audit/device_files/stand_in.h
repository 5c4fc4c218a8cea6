// The files that stand for those of NVIDIA's driver.
#pragma once

#include <cstddef>
#include <string_view>

namespace km::audit {

/// The path of a file that a program is given for another one.
struct StandIn {
  static constexpr size_t kMostBytes = 1536;
  char path[kMostBytes];
};

/// Describes the driver's files.
class DriverFiles {
 public:
  /// `folder` is kept; it ends in '/'.
  void set(std::string_view folder, unsigned devices) noexcept;
  bool are_there() const noexcept { return devices_ != 0; }
  unsigned devices() const noexcept { return devices_; }
  /// Fills in the stand-in for `path`; false if NVIDIA's driver has no such file.
  bool find(std::string_view path, StandIn* out) const noexcept;

 private:
  bool is_device(std::string_view name) const noexcept;

  std::string_view folder_;
  unsigned devices_ = 0;
};

/// True for a path that find() has to look at: the quick test before it.
inline bool may_be_driver_file(const char* path) noexcept {
  return path != nullptr && path[0] == '/' &&
         (path[1] == 'd' || (path[1] == 'p' && path[2] == 'r' && path[6] == 'd'));
}

/// The names below /dev beside those of single devices.
inline constexpr std::string_view kControlNames[] = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"};

}  // namespace km::audit
