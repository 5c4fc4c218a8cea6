// The file in which notes on source lines are collected.
#pragma once

#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "tools/explain/notes.h"

namespace km::tools {

/// Collects the notes of this process, or of all programs that it starts, in a file without a name,
/// so that nothing is left behind. Backends read the settings when they are loaded, so the object
/// has to be made before a device is opened.
class NotesFile {
 public:
  /// Creates the file, and sets KM_DUMP to these stages and KM_DUMP_FILE to the file.
  static Result<NotesFile> create(const char* stages);

  /// The kernels that there are notes on so far.
  Result<std::vector<NotedKernel>> read() const;

 private:
  explicit NotesFile(File file) : file_(std::move(file)) {}

  File file_;
};

}  // namespace km::tools
