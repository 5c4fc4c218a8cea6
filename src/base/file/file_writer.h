// The writer of files: the library, the command, caches, traces and objects write by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "base/result.h"

namespace km {

/// Writes one file. A regular file, or a path where nothing is, gets a temporary file beside it,
/// which replaces the old file (and keeps its mode and owner) when it is whole and on the disk. A
/// symbolic link stays and the file that it names is written. A device or pipe is written through.
class FileWriter {
 public:
  /// Prepares the file. KM_ERROR_IO when the path is a folder, a socket, or a pipe that nobody
  /// reads, or may not be written; the old file is untouched.
  static Result<FileWriter> open(const std::string& path);
  /// Prepares the regular file `name` (mode 0600) of an open folder, which must outlive the writer.
  /// commit() does not wait for the disk: for contents that carry a checksum.
  static Result<FileWriter> open_in(int folder, const std::string& name);

  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  /// Removes what was written, unless commit() has succeeded.
  ~FileWriter();

  /// Appends to the file. commit() reports the first failure.
  void write(std::string_view part);
  /// Appends formatted text.
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);
  /// Puts the file in its place. After a failure the old file is there as before.
  Status commit();

 private:
  enum class Sync : bool { kNo, kYes };

  FileWriter(std::string path, Sync sync) : path_(std::move(path)), sync_(sync) {}
  Status open_temporary(int folder, mode_t mode);
  Status open_through();
  void flush();
  Status replace();
  Error failed(int code) const { return file_error("write", path_, code, KM_ERROR_IO); }

  /// The properties that the new file takes over from the old one.
  struct Old {
    bool exists = false;
    mode_t mode = 0;
    uid_t user = 0;
    gid_t group = 0;
  };
  bool take_over() const;

  std::string path_;  // for messages
  Sync sync_;
  File own_folder_{-1};
  int folder_ = -1;        // own_folder_ or the caller's
  std::string name_;       // in the folder
  std::string temporary_;  // in the folder; empty: none is there
  Old old_;
  File file_{-1};
  std::string buffer_;
  int code_ = 0;  // errno of the first failure
};

/// Writes a file that has all of the content, or leaves what was there; see FileWriter.
Status write_file(const std::string& path, std::string_view content);

/// Tests if FileWriter::open() would take the path, without an effect on it.
Status check_writable(const std::string& path);

/// The beginning of temporary files' names.
constexpr std::string_view kTemporaryPrefix = ".kernelmill-";

}  // namespace km
