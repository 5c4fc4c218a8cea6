#include "base/file/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/env.h"
#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "base/hash.h"
#include "base/log.h"

namespace km {
namespace {

constexpr uint64_t kDefaultMebibytes = 512;
constexpr time_t kStaleSeconds = 3600;  // age at which a temporary file counts as left behind

/// The beginning of each file; the key and the content follow it.
struct Header {
  char magic[8] = {'K', 'M', 'C', 'A', 'C', 'H', 'E', '2'};
  uint64_t key_bytes = 0, content_bytes = 0;
  Hash128 hash;  // hash of the content
};

/// True if only this user can have created or changed the file.
bool is_own(const struct stat& about) {
  return about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Error folder_error(const std::string& folder, const char* why) {
  return make_error(KM_ERROR_IO, "cache folder '%s' %s; KM_CACHE_DIR names another, or off",
                    folder.c_str(), why);
}

/// Creates the folder and its missing parents; existing ones stay unchanged.
void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    mkdir(path.substr(0, end).c_str(), 0700);
  }
  mkdir(path.c_str(), 0700);
}

std::string default_folder() {
  if (auto folder = foreign_env("XDG_CACHE_HOME"); folder && folder->starts_with('/')) {
    return *folder + "/kernelmill";
  }
  auto home = foreign_env("HOME");
  return home && home->starts_with('/') ? *home + "/.cache/kernelmill" : "";
}

DiskCache* open_instance() {
  if (getauxval(AT_SECURE) != 0) return nullptr;
  const std::optional<std::string> named = env(EnvVar::KM_CACHE_DIR);
  if (named == "off") return nullptr;
  const std::string folder = named ? *named : default_folder();
  if (folder.empty()) return nullptr;
  const auto mebibytes = env_integer(EnvVar::KM_CACHE_MIB, 1, uint64_t{1} << 40, kDefaultMebibytes);
  if (!mebibytes) {
    log(LogLevel::kWarn, "cache", "no code cache: %s", mebibytes.error().message.c_str());
    return nullptr;
  }
  auto cache = DiskCache::open(folder, *mebibytes << 20);
  if (cache) return *cache;
  // Only a folder that the user has set is worth a warning.
  const LogLevel level = named ? LogLevel::kWarn : LogLevel::kInfo;
  log(level, "cache", "no code cache: %s", cache.error().message.c_str());
  return nullptr;
}

std::string name_of(std::string_view key) { return hash128(key).text(); }

/// True if name_of() can have produced the name, so that eviction leaves foreign files alone.
bool is_name(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

struct Entry {
  std::string name;
  uint64_t size_bytes = 0;
  time_t used = 0;
};

}  // namespace

DiskCache* DiskCache::instance() {
  static DiskCache* const cache = open_instance();
  return cache;
}

Result<DiskCache*> DiskCache::open(const std::string& folder, uint64_t limit_bytes) {
  if (!folder.starts_with('/')) return folder_error(folder, "is not an absolute path");
  make_folders(folder);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return folder_error(folder, "cannot be opened or created");
  std::unique_ptr<DiskCache> cache(new DiskCache(descriptor, limit_bytes));
  struct stat about{};
  if (fstat(descriptor, &about) != 0 || !is_own(about)) {
    return folder_error(folder, "is not this user's, or others can write to it");
  }
  return cache.release();
}

DiskCache::~DiskCache() { close(folder_); }

std::optional<std::vector<uint8_t>> DiskCache::find(std::string_view key) const {
  const std::string name = name_of(key);
  const Result<File> opened = open_file_in(folder_, name);
  if (!opened) return std::nullopt;
  const File& file = *opened;
  struct stat about{};
  Header header;
  const Header expected;
  bool fits = fstat(file.get(), &about) == 0 && is_own(about) &&
              file.read_all(&header, sizeof header) &&
              std::memcmp(header.magic, expected.magic, sizeof header.magic) == 0 &&
              header.key_bytes == key.size() &&
              header.content_bytes <= static_cast<uint64_t>(about.st_size) &&
              sizeof header + header.key_bytes + header.content_bytes ==
                  static_cast<uint64_t>(about.st_size);
  std::string stored_key;
  std::vector<uint8_t> content;
  if (fits) {
    stored_key.resize(header.key_bytes);
    content.resize(header.content_bytes);
    fits = file.read_all(stored_key.data(), stored_key.size()) && stored_key == key &&
           file.read_all(content.data(), content.size()) &&
           hash128(content.data(), content.size()) == header.hash;
  }
  if (!fits) {
    log(LogLevel::kInfo, "cache", "%s is damaged, and is rebuilt", name.c_str());
    return std::nullopt;
  }
  futimens(file.get(), nullptr);  // eviction removes the files with the oldest access times first
  return content;
}

Status DiskCache::write(const std::string& name, std::string_view key,
                        std::span<const uint8_t> content) const {
  Header header;
  header.key_bytes = key.size();
  header.content_bytes = content.size();
  header.hash = hash128(content.data(), content.size());
  KM_ASSIGN(FileWriter file, FileWriter::open_in(folder_, name));
  file.write({reinterpret_cast<const char*>(&header), sizeof header});
  file.write(key);
  file.write({reinterpret_cast<const char*>(content.data()), content.size()});
  return file.commit();
}

void DiskCache::keep(std::string_view key, std::span<const uint8_t> content) {
  if (content.size() > limit_bytes_ / 4) return;
  const std::string name = name_of(key);
  if (const Status written = write(name, key, content); !written) {
    log(LogLevel::kDebug, "cache", "%s is not kept: %s", name.c_str(),
        written.error().message.c_str());
    return;
  }
  note_written(content.size());
}

/// Evicts at the first write and whenever an eighth of the limit was written since, because looking
/// through the folder takes time.
void DiskCache::note_written(uint64_t size_bytes) {
  std::lock_guard lock(mutex_);
  const bool first = unchecked_bytes_ == UINT64_MAX;
  unchecked_bytes_ = first ? size_bytes : unchecked_bytes_ + size_bytes;
  if (!first && unchecked_bytes_ < limit_bytes_ / 8) return;
  unchecked_bytes_ = 0;
  evict();
}

/// Evicts down to three quarters of the limit if it is exceeded.
void DiskCache::evict() const {
  const int again = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return;
  DIR* const folder = fdopendir(again);
  if (folder == nullptr) {
    close(again);
    return;
  }
  std::vector<Entry> entries;
  uint64_t total = 0;
  const time_t now = std::time(nullptr);
  while (const dirent* each = readdir(folder)) {
    struct stat about{};
    if (fstatat(folder_, each->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(about.st_mode)) continue;
    const std::string_view name = each->d_name;
    if (is_name(name)) {
      entries.push_back({std::string(name), static_cast<uint64_t>(about.st_size), about.st_mtime});
      total += entries.back().size_bytes;
    } else if (name.starts_with(kTemporaryPrefix)) {
      if (about.st_mtime + kStaleSeconds < now) unlinkat(folder_, each->d_name, 0);
    }
  }
  closedir(folder);
  if (total <= limit_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_ / 4 * 3) break;
    if (unlinkat(folder_, entry.name.c_str(), 0) == 0) total -= entry.size_bytes;
  }
}

}  // namespace km
