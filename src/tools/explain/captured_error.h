// Collects what the process writes to standard error.
#pragma once

#include <string>

namespace km::tools {

/// Sends standard error into a file without a name from the object's beginning until take(). Only
/// one may exist at a time, and no Progress beside it.
class CapturedError {
 public:
  CapturedError();
  ~CapturedError() { take(); }
  CapturedError(const CapturedError&) = delete;
  CapturedError& operator=(const CapturedError&) = delete;

  /// False if there is no room for the file, so that nothing is collected.
  bool is_open() const { return file_ >= 0; }
  /// Restores standard error; returns what was written, once.
  std::string take();

 private:
  int file_ = -1, original_ = -1;
};

}  // namespace km::tools
