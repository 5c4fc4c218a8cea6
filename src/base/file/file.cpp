#include "base/file/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/printable.h"

namespace km {
namespace {

constexpr size_t kPartBytes = size_t{1} << 16;

Error not_regular(const char* verb, const std::string& path, mode_t mode) {
  return make_error(KM_ERROR_IO, "cannot %s '%.1000s': it is %s; a regular file is needed", verb,
                    printable_name(path).c_str(), file_kind_name(mode));
}

Error too_large(const std::string& path, uint64_t max_bytes) {
  const bool is_mebibytes = max_bytes % (uint64_t{1} << 20) == 0;
  Error error = make_error(KM_ERROR_IO,
                           "cannot read '%.1000s': it has more than the %" PRIu64
                           " %s that such a file may have",
                           printable_name(path).c_str(), is_mebibytes ? max_bytes >> 20 : max_bytes,
                           is_mebibytes ? "MiB" : "bytes");
  error.native_code = EFBIG;
  return error;
}

/// Appends to `text` until the end of the file. Returns false with errno if reading fails, EFBIG
/// past the limit.
bool read_to_end(int file, uint64_t max_bytes, std::string* text) {
  for (;;) {
    const size_t before = text->size();
    text->resize(before + kPartBytes);
    const ssize_t count = read(file, text->data() + before, kPartBytes);
    text->resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return true;
    if (count < 0 && errno != EINTR) return false;
    if (text->size() > max_bytes) return errno = EFBIG, false;
  }
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

int File::release() { return std::exchange(descriptor_, -1); }

bool File::read_all(void* to, uint64_t size_bytes) const {
  auto* at = static_cast<char*>(to);
  while (size_bytes != 0) {
    const ssize_t count = read(descriptor_, at, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

bool File::write_all(const void* from, uint64_t size_bytes) const {
  const WriteSignalGuard guard;
  const auto* at = static_cast<const char*>(from);
  while (size_bytes != 0) {
    const ssize_t count = write(descriptor_, at, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) return false;
    at += count;
    size_bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

WriteSignalGuard::WriteSignalGuard() {
  sigset_t waiting;
  sigset_t blocked;
  sigemptyset(&own_);
  sigemptyset(&blocked);
  sigpending(&waiting);
  for (const int signal : {SIGXFSZ, SIGPIPE}) {
    sigaddset(&blocked, signal);
    if (sigismember(&waiting, signal) == 0) sigaddset(&own_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

WriteSignalGuard::~WriteSignalGuard() {
  const int code = errno;
  const timespec now{};
  while (sigtimedwait(&own_, nullptr, &now) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = code;
}

Result<File> open_file(const std::string& path) {
  struct stat about{};
  // stat() comes before open(), because opening alone has effects on some devices.
  if (stat(path.c_str(), &about) != 0) return file_error("open", path, errno);
  if (!S_ISREG(about.st_mode)) return not_regular("open", path, about.st_mode);
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file || fstat(file.get(), &about) != 0) return file_error("open", path, errno);
  if (!S_ISREG(about.st_mode)) return not_regular("open", path, about.st_mode);
  return file;
}

Result<File> open_file_in(int folder, const std::string& name) {
  struct stat about{};
  File file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file || fstat(file.get(), &about) != 0) return file_error("open", name, errno);
  if (!S_ISREG(about.st_mode)) return not_regular("open", name, about.st_mode);
  return file;
}

Result<std::string> read_file(const std::string& path, uint64_t max_bytes) {
  KM_ASSIGN(const File file, open_file(path));
  struct stat about{};
  if (fstat(file.get(), &about) != 0) return file_error("read", path, errno);
  const auto size_bytes = static_cast<uint64_t>(about.st_size);
  if (size_bytes > max_bytes) return too_large(path, max_bytes);
  std::string text;
  text.reserve(size_bytes + kPartBytes);
  if (read_to_end(file.get(), max_bytes, &text)) return text;
  return errno == EFBIG ? too_large(path, max_bytes) : file_error("read", path, errno);
}

Result<File> open_to_append(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  File file(open(path.c_str(), kFlags, 0600));
  if (!file) return file_error("write", path, errno, KM_ERROR_IO);
  return file;
}

Result<File> create_file(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  File file(open(path.c_str(), kFlags, 0644));
  struct stat about{};
  if (!file && errno == EEXIST && lstat(path.c_str(), &about) == 0) {
    if (!S_ISREG(about.st_mode)) return not_regular("write", path, about.st_mode);
    if (about.st_uid != geteuid()) return file_error("write", path, EEXIST, KM_ERROR_IO);
    unlink(path.c_str());
    file = File(open(path.c_str(), kFlags, 0644));
  }
  if (!file) return file_error("write", path, errno, KM_ERROR_IO);
  return file;
}

namespace {

Result<File> create_memory(const char* name, unsigned flags) {
  File file(memfd_create(name, MFD_CLOEXEC | flags));
  if (!file) return file_error("make", name, errno);
  return file;
}

}  // namespace

Result<File> create_memory_file(const char* name) { return create_memory(name, 0); }

Result<File> create_shared_memory_file(const char* name, uint64_t size_bytes) {
  KM_ASSIGN(File file, create_memory(name, MFD_ALLOW_SEALING));
  if (!resize_file(file.get(), size_bytes) ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    const int code = errno;
    Error error =
        make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot create shared memory: %s", strerror(code));
    error.native_code = code;
    return error;
  }
  return file;
}

bool has_fixed_size(int file) {
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

Result<File> open_memory_file(int process, int descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
  // The link is in /proc, so it cannot be planted; stat() shows the kind of file before it is
  // opened.
  struct stat info{};
  if (stat(path, &info) != 0) return file_error("open", path, errno);
  if (!S_ISREG(info.st_mode)) return file_error("open", path, EINVAL);
  File file(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file) return file_error("open", path, errno);
  if (!has_fixed_size(file.get())) return file_error("open", path, EINVAL);
  return file;
}

bool resize_file(int file, uint64_t size_bytes) {
  const WriteSignalGuard guard;
  return ftruncate(file, static_cast<off_t>(size_bytes)) == 0;
}

const char* file_kind_name(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "no file";
  }
}

Error file_error(const char* verb, const std::string& path, int code, km_status missing) {
  Error error = make_error(code == ENOENT ? missing : KM_ERROR_IO, "cannot %s '%.1000s': %s", verb,
                           printable_name(path).c_str(), std::strerror(code));
  error.native_code = code;
  return error;
}

}  // namespace km
