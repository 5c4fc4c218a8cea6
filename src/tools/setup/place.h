// The folder in which `kernelmill setup` installs NVRTC, and its expected contents.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace km::tools {

/// Serialises setups of a folder. The lock ends with its process, even if that is killed.
class SetupLock {
 public:
  /// Creates the folder and takes the lock. Fails if another process holds it; a file system
  /// without locks is used without one.
  static Result<SetupLock> take(const std::filesystem::path& data);
  ~SetupLock();
  SetupLock(SetupLock&& other) noexcept;
  SetupLock& operator=(SetupLock&&) = delete;

 private:
  explicit SetupLock(int folder) : folder_(folder) {}
  int folder_;  // -1: none
};

/// Removes the work folders of killed runs. If one of them had moved the only copy of NVRTC aside,
/// the copy is moved back. The caller must hold the lock.
void remove_leftovers(const std::filesystem::path& data);

/// Fails unless NVRTC's folder is free, has only contents of this command, or may be replaced: by
/// `is_agreed` or by the user's answer on the terminal.
Status check_place(const std::filesystem::path& data, bool is_agreed);

/// The path for a new work folder of this process.
std::filesystem::path new_folder(const std::filesystem::path& data);

/// Replaces NVRTC's folder by the new one; running processes may still use the old one.
Status replace_nvrtc(const std::filesystem::path& data, const std::filesystem::path& made);

}  // namespace km::tools
