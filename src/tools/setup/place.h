// The folder of the user's data in which `kernelmill setup` puts NVRTC, and what may lie there.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace km::tools {

/// One setup of a folder at a time. The lock ends with its process, however that ends.
class SetupLock {
 public:
  /// Makes the folder. Fails when another process has the lock; a file system without locks counts
  /// as one that nobody else uses.
  static Result<SetupLock> take(const std::filesystem::path& data);
  ~SetupLock();
  SetupLock(SetupLock&& other) noexcept;
  SetupLock& operator=(SetupLock&&) = delete;

 private:
  explicit SetupLock(int folder) : folder_(folder) {}
  int folder_;  // -1: none
};

/// Removes the work folders of runs that were killed. The only copy of NVRTC, which one of them had
/// moved aside, goes back to its place. The lock is held.
void remove_leftovers(const std::filesystem::path& data);

/// Fails unless the place of NVRTC is free, holds what this command puts there, or may be replaced:
/// it was agreed to, or the user agrees on the terminal.
Status check_place(const std::filesystem::path& data, bool is_agreed);

/// The name of a work folder of this process.
std::filesystem::path new_folder(const std::filesystem::path& data);

/// Puts the new folder in the place of NVRTC, whose old one processes may be using.
Status replace_nvrtc(const std::filesystem::path& data, const std::filesystem::path& made);

}  // namespace km::tools
