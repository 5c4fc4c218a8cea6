#include "base/file/file_writer.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/printable.h"

namespace km {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;
constexpr int kMaxLinks = 40;  // the kernel's own limit
constexpr int kMaxNames = 16;
constexpr mode_t kModeBits = 07777;

/// "a/b" gives "a/", "b" gives "".
std::string folder_part(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// ".kernelmill-" and 32 random digits, so that nobody can plant the file.
std::string temporary_name() {
  static std::atomic<uint64_t> count{0};
  uint64_t random[2] = {};
  if (getrandom(random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    // Fallback if the kernel has no randomness yet. O_EXCL keeps the file safe, so the name only
    // has to be new.
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    random[0] = static_cast<uint64_t>(now.tv_sec) << 30 ^ static_cast<uint64_t>(now.tv_nsec);
    random[1] = static_cast<uint64_t>(getpid()) << 32 ^ count.fetch_add(1);
  }
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  return std::string(kTemporaryPrefix) + digits;
}

/// The target of one symbolic link, as a path from the current folder. Empty with errno if it
/// cannot be read.
std::string link_target(const std::string& link) {
  std::string target(4096, '\0');
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  if (size < 0) return {};
  if (size == 0 || static_cast<size_t>(size) == target.size()) return errno = ENAMETOOLONG, "";
  target.resize(static_cast<size_t>(size));
  return target.front() == '/' ? target : folder_part(link) + target;
}

/// The resolved path of a file to be written, and the way to write it.
struct Destination {
  bool exists = false;
  bool is_replaced = true;  // true: a new file replaces it; false: it is written in place
  struct stat about{};
  std::string path;  // after all links
};

std::string folder_of(const std::string& path) {
  const std::string folder = folder_part(path);
  return folder.empty() ? "." : folder;
}

/// Links in /proc, such as /dev/stdout, refer to an open file, which must be written itself.
bool is_in_proc(const std::string& link) {
  const File folder(open(folder_of(link).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct statfs about{};
  return folder && fstatfs(folder.get(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

/// Follows the links of the last component, but not those of /proc. Returns false with errno if one
/// cannot be read.
bool follow_links(std::string* path, struct stat* about) {
  for (int i = 0; i < kMaxLinks; ++i) {
    if (lstat(path->c_str(), about) != 0) return errno == ENOENT;
    if (!S_ISLNK(about->st_mode) || is_in_proc(*path)) return true;
    *path = link_target(*path);
    if (path->empty()) return false;
  }
  return errno = ELOOP, false;
}

Result<Destination> find_destination(const std::string& path) {
  const auto failed = [&path](int code) { return file_error("write", path, code, KM_ERROR_IO); };
  Destination found;
  // stat() comes first because the kernel then follows the links, and refuses links that others
  // have planted.
  found.exists = stat(path.c_str(), &found.about) == 0;
  if (!found.exists && errno != ENOENT) return failed(errno);
  if (found.exists && !S_ISREG(found.about.st_mode)) {
    if (S_ISDIR(found.about.st_mode) || S_ISSOCK(found.about.st_mode)) {
      return make_error(KM_ERROR_IO, "cannot write '%.1000s': it is %s; a file is needed",
                        path.c_str(), file_kind_name(found.about.st_mode));
    }
    found.is_replaced = false;
  }
  found.path = path;
  struct stat last{};
  if (found.is_replaced && !follow_links(&found.path, &last)) return failed(errno);
  if (!found.exists && (path.empty() || found.path.back() == '/')) return failed(ENOENT);
  // A link of /proc was not followed, so lstat() describes the link and not the file behind it.
  if (found.exists && found.is_replaced) {
    found.is_replaced = last.st_dev == found.about.st_dev && last.st_ino == found.about.st_ino;
  }
  if (found.exists && faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
    return failed(errno);
  }
  return found;
}

/// The folder without its trailing slash, for messages.
std::string shown_folder(const std::string& path) {
  std::string folder = folder_of(path);
  if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

Error no_room_beside(const std::string& path, const std::string& file, int code) {
  Error error =
      make_error(KM_ERROR_IO, "cannot write '%.1000s': no new file can be made in '%.1000s': %s",
                 printable_name(path).c_str(), printable_name(shown_folder(file)).c_str(),
                 std::strerror(code));
  error.native_code = code;
  return error;
}

}  // namespace

Result<FileWriter> FileWriter::open(const std::string& path) {
  KM_ASSIGN(const Destination to, find_destination(path));
  FileWriter writer(path, Sync::kYes);
  if (!to.is_replaced) {
    KM_TRY(writer.open_through());
    return writer;
  }
  writer.own_folder_ = File(::open(folder_of(to.path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!writer.own_folder_) return writer.failed(errno);
  writer.folder_ = writer.own_folder_.get();
  writer.name_ = to.path.substr(to.path.rfind('/') + 1);
  writer.old_ = {to.exists, to.about.st_mode & kModeBits, to.about.st_uid, to.about.st_gid};
  const Status opened = writer.open_temporary(writer.folder_, to.exists ? 0600 : 0666);
  if (!opened) {
    return no_room_beside(path, to.path, static_cast<int>(opened.error().native_code));
  }
  return writer;
}

Result<FileWriter> FileWriter::open_in(int folder, const std::string& name) {
  FileWriter writer(name, Sync::kNo);
  writer.folder_ = folder;
  writer.name_ = name;
  KM_TRY(writer.open_temporary(folder, 0600));
  return writer;
}

Status FileWriter::open_temporary(int folder, mode_t mode) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int i = 0; i < kMaxNames; ++i) {
    std::string name = temporary_name();
    file_ = File(openat(folder, name.c_str(), kFlags, mode));
    if (file_) {
      temporary_ = std::move(name);
      return {};
    }
    if (errno != EEXIST) break;
  }
  return failed(errno);
}

/// Without O_NONBLOCK the open would wait for a pipe's reader. Writing may wait, so the flag is
/// cleared afterwards.
Status FileWriter::open_through() {
  constexpr int kFlags = O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  file_ = File(::open(path_.c_str(), kFlags));
  if (!file_ && errno == ENXIO) {
    return make_error(KM_ERROR_IO, "cannot write '%.1000s': nobody reads this pipe or device",
                      path_.c_str());
  }
  if (!file_ || fcntl(file_.get(), F_SETFL, 0) != 0) return failed(errno);
  return {};
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      sync_(other.sync_),
      own_folder_(std::move(other.own_folder_)),
      folder_(other.folder_),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, std::string())),
      old_(other.old_),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      code_(other.code_) {}

FileWriter::~FileWriter() {
  if (!temporary_.empty()) unlinkat(folder_, temporary_.c_str(), 0);
}

void FileWriter::write(std::string_view part) {
  if (code_ != 0) return;
  if (buffer_.size() + part.size() < kBufferBytes) {
    buffer_ += part;
    return;
  }
  flush();
  if (code_ == 0 && !file_.write_all(part.data(), part.size())) code_ = errno;
}

void FileWriter::flush() {
  if (code_ == 0 && !file_.write_all(buffer_.data(), buffer_.size())) code_ = errno;
  buffer_.clear();
}

void FileWriter::print(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  if (size >= 0 && static_cast<size_t>(size) < sizeof text) {
    write({text, static_cast<size_t>(size)});
  } else if (size >= 0) {
    std::string longer(static_cast<size_t>(size) + 1, '\0');
    std::vsnprintf(longer.data(), longer.size(), format, again);
    longer.pop_back();
    write(longer);
  }
  va_end(again);
  va_end(arguments);
}

Status FileWriter::commit() {
  flush();
  if (code_ != 0) return failed(code_);
  if (temporary_.empty()) return {};
  return replace();
}

/// Only root may give files away. If the old owner cannot be kept, the special bits are dropped; if
/// the old group cannot be kept, the new group gets no more rights than everyone.
bool FileWriter::take_over() const {
  mode_t mode = old_.mode;
  if (fchown(file_.get(), old_.user, old_.group) != 0) {
    mode &= 0777;
    if (fchown(file_.get(), static_cast<uid_t>(-1), old_.group) != 0)
      mode &= 0707 | (mode & 7) << 3;
  }
  return fchmod(file_.get(), mode) == 0;
}

Status FileWriter::replace() {
  if (old_.exists && !take_over()) return failed(errno);
  if (sync_ == Sync::kYes && fsync(file_.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return failed(errno);
  }
  struct stat now{};
  if (fstatat(folder_, name_.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(now.st_mode)) {
    return make_error(KM_ERROR_IO, "cannot write '%.1000s': meanwhile it has become %s",
                      path_.c_str(), file_kind_name(now.st_mode));
  }
  if (renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) return failed(errno);
  temporary_.clear();
  return {};
}

Status write_file(const std::string& path, std::string_view content) {
  KM_ASSIGN(FileWriter writer, FileWriter::open(path));
  writer.write(content);
  return writer.commit();
}

Status check_writable(const std::string& path) {
  KM_ASSIGN(const Destination to, find_destination(path));
  if (!to.is_replaced) return {};
  if (faccessat(AT_FDCWD, folder_of(to.path).c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return no_room_beside(path, to.path, errno);
  }
  return {};
}

}  // namespace km
