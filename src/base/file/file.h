// The reader of files and what it shares with the writer (base/file/file_writer.h). All code under
// src/ and dropin/ opens files by these two; tests/tidy refuses other ways.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace km {

/// A file descriptor that closes itself.
class File {
 public:
  /// Takes the descriptor; a negative one is no file.
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File();
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// Gives the descriptor to the caller, who closes it.
  int release();

  /// False, with errno, when fewer bytes are there (errno 0) or reading fails.
  bool read_all(void* to, uint64_t size_bytes) const;
  /// False, with errno, when not all of it could be written. A size limit (EFBIG) and a pipe
  /// without readers (EPIPE) raise no signal.
  bool write_all(const void* from, uint64_t size_bytes) const;

 private:
  int descriptor_;
};

/// Turns SIGXFSZ and SIGPIPE of this thread into the errno of the call that raises them, while the
/// object lives: it blocks both signals, and its end removes those that came meanwhile.
class WriteSignalGuard {
 public:
  WriteSignalGuard();
  ~WriteSignalGuard();
  WriteSignalGuard(const WriteSignalGuard&) = delete;
  WriteSignalGuard& operator=(const WriteSignalGuard&) = delete;

 private:
  sigset_t before_;  // the thread's mask
  sigset_t own_;     // of the two signals those that did not wait before
};

/// The limit of read_file() for text: sources, PTX, modules.
constexpr uint64_t kMaxTextBytes = uint64_t{256} << 20;

/// Opens a regular file for reading and never waits: a pipe, device, socket or folder is an error
/// that names what the path is. KM_ERROR_NOT_FOUND when nothing is there, else KM_ERROR_IO.
Result<File> open_file(const std::string& path);
/// Opens the entry `name` of an open folder in the same way; a symbolic link is an error.
Result<File> open_file_in(int folder, const std::string& name);

/// Reads a regular file to its end, also one that grows meanwhile. A file of more than `max_bytes`
/// is KM_ERROR_IO with the native code EFBIG; for the other errors see open_file().
Result<std::string> read_file(const std::string& path, uint64_t max_bytes = kMaxTextBytes);

/// Opens a file that gets lines at its end, and makes it (mode 0600) when it is not there. It never
/// waits: a pipe that nobody reads is an error, and a full one drops what is written.
Result<File> open_to_append(const std::string& path);

/// Makes a new file for reading and writing under exactly this name, for a reader that expects it
/// there; a regular file of this user's is replaced, anything else is an error.
Result<File> create_file(const std::string& path);

/// Memory with a file descriptor, empty at first.
Result<File> create_memory_file(const char* name);

/// Memory of a fixed size with a file descriptor, to be shared: sealed, so that no process can take
/// it away from under the others. KM_ERROR_OUT_OF_HOST_MEMORY when the system has not that much.
Result<File> create_shared_memory_file(const char* name, uint64_t size_bytes);

/// True for a file of create_shared_memory_file(), whose size stays.
bool has_fixed_size(int file);

/// Opens memory of create_shared_memory_file() by its descriptor in another process (or this one)
/// for reading and writing. KM_ERROR_NOT_FOUND when it is not there; a file that is not of a fixed
/// size is KM_ERROR_IO.
Result<File> open_memory_file(int process, int descriptor);

/// Sets the size of a file. False, with errno; a size limit (EFBIG) raises no signal.
bool resize_file(int file, uint64_t size_bytes);

/// The kind of an entry of the file system, for messages: "a folder", "a pipe", "a device" ...
const char* file_kind_name(mode_t mode);

/// "cannot `verb` 'path': why", with the system's code as the native one. A file that is not there
/// has the status `missing`.
Error file_error(const char* verb, const std::string& path, int code,
                 km_status missing = KM_ERROR_NOT_FOUND);

}  // namespace km
