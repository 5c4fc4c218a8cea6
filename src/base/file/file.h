// The reader of files, and code that it shares with the writer (base/file/file_writer.h). All code
// under src/ and dropin/ opens files by these two; tests/tidy refuses other ways.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace km {

/// A file descriptor that is closed with its object.
class File {
 public:
  /// Takes ownership of the descriptor; a negative one means no file.
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File();
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// Transfers the descriptor to the caller, who has to close it.
  int release();

  /// Reads exactly `size_bytes`. Returns false with errno if reading fails, or errno 0 if the file
  /// is shorter.
  bool read_all(void* to, uint64_t size_bytes) const;
  /// Writes all bytes or returns false with errno. A size limit (EFBIG) and a pipe without readers
  /// (EPIPE) raise no signal.
  bool write_all(const void* from, uint64_t size_bytes) const;

 private:
  int descriptor_;
};

/// Suppresses SIGXFSZ and SIGPIPE on this thread for the object's lifetime, so that the causing
/// call fails with its errno: it blocks both signals, and its destructor removes those that arrived
/// meanwhile.
class WriteSignalGuard {
 public:
  WriteSignalGuard();
  ~WriteSignalGuard();
  WriteSignalGuard(const WriteSignalGuard&) = delete;
  WriteSignalGuard& operator=(const WriteSignalGuard&) = delete;

 private:
  sigset_t before_;  // the thread's mask before
  sigset_t own_;     // the signals of these two that were not pending before
};

/// The size limit of read_file() for text: sources, PTX, modules.
constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;

/// Opens a regular file for reading without ever waiting: a pipe, device, socket or folder is an
/// error that names its kind. KM_ERROR_NOT_FOUND if nothing is there, otherwise KM_ERROR_IO.
Result<File> open_file(const std::string& path);
/// Opens the entry `name` of an open folder like open_file(); a symbolic link is an error.
Result<File> open_file_in(int folder, const std::string& name);

/// Reads a regular file to its end, even if it grows meanwhile. A file of more than `max_bytes` is
/// KM_ERROR_IO with the native code EFBIG; other errors are those of open_file().
Result<std::string> read_file(const std::string& path, uint64_t max_bytes = kMaxTextBytes);

/// Opens a file for appending lines, and creates it (mode 0600) if it is missing. It never waits: a
/// pipe without a reader is an error, and writes to a full pipe are dropped.
Result<File> open_to_append(const std::string& path);

/// Creates a file for reading and writing under exactly this name, for a reader that expects it
/// there. A regular file of this user is replaced, anything else is an error.
Result<File> create_file(const std::string& path);

/// Creates anonymous memory with a file descriptor, initially empty.
Result<File> create_memory_file(const char* name);

/// Creates shared memory of a fixed size with a file descriptor. It is sealed, so that no process
/// can shrink it under the others. KM_ERROR_OUT_OF_HOST_MEMORY if the system lacks the memory.
Result<File> create_shared_memory_file(const char* name, uint64_t size_bytes);

/// True for a file of create_shared_memory_file(), whose size cannot change.
bool has_fixed_size(int file);

/// Opens memory of create_shared_memory_file() by its descriptor in a process, for reading and
/// writing. KM_ERROR_NOT_FOUND if it is not there; a file without a fixed size is KM_ERROR_IO.
Result<File> open_memory_file(int process, int descriptor);

/// Sets the size of a file. Returns false with errno; a size limit (EFBIG) raises no signal.
bool resize_file(int file, uint64_t size_bytes);

/// The kind of a file for messages: "a folder", "a pipe", "a device" ...
const char* file_kind_name(mode_t mode);

/// "cannot `verb` 'path': reason", with the errno `code` as the native code. If the file is
/// missing, the status is `missing`.
Error file_error(const char* verb, const std::string& path, int code,
                 km_status missing = KM_ERROR_NOT_FOUND);

}  // namespace km
