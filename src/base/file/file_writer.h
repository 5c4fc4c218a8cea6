// The writer of files, for the library, the command, caches, traces and object files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "base/result.h"

namespace km {

/// Writes one file. A regular or missing file is written as a temporary file beside it, which
/// replaces the old one atomically, with its mode and owner, once it is complete and on the disk. A
/// symbolic link stays, and the file that it names is written. Devices and pipes are written in
/// place.
class FileWriter {
 public:
  /// Prepares the file. KM_ERROR_IO if the path is a folder, a socket or a pipe without a reader,
  /// or must not be written; the old file stays unchanged.
  static Result<FileWriter> open(const std::string& path);
  /// Prepares the regular file `name` (mode 0600) of an open folder, which must outlive the writer.
  /// commit() does not sync to the disk, so contents need a checksum of their own.
  static Result<FileWriter> open_in(int folder, const std::string& name);

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  /// Removes the temporary file unless commit() has succeeded.
  ~FileWriter();

  /// Appends to the file. commit() reports the first failure.
  void write(std::string_view part);
  /// Appends formatted text. commit() reports the first failure.
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);
  /// Completes the file and moves it to its place. After a failure the old file is unchanged.
  Status commit();

 private:
  enum class Sync : bool { kNo, kYes };

  FileWriter(std::string path, Sync sync) : path_(std::move(path)), sync_(sync) {}
  Status open_temporary(int folder, mode_t mode);
  Status open_through();
  void flush();
  Status replace();
  Error failed(int code) const { return file_error("write", path_, code, KM_ERROR_IO); }

  /// The properties of the old file that the new one takes over.
  struct Old {
    bool exists = false;
    mode_t mode = 0;
    uid_t user = 0;
    gid_t group = 0;
  };
  bool take_over() const;

  std::string path_;  // the caller's path, for messages
  Sync sync_;
  File own_folder_{-1};
  int folder_ = -1;        // own_folder_ or the caller's descriptor
  std::string name_;       // name within the folder
  std::string temporary_;  // name within the folder; empty: no temporary file
  Old old_;
  File file_{-1};
  std::string buffer_;
  int code_ = 0;  // errno of the first failure
};

/// Writes a complete file, or leaves the old one; see FileWriter.
Status write_file(const std::string& path, std::string_view content);

/// Checks whether FileWriter::open() would accept the path, without creating or changing a file.
Status check_writable(const std::string& path);

/// The prefix of temporary files' names.
constexpr std::string_view kTemporaryPrefix = ".kernelmill-";

}  // namespace km
