// Functions that list folders: /dev has the devices' files after its own, and glob() finds them.
#include <atomic>
#include <cerrno>
#include <iterator>

#include "dropin/audit/device_files/calls.h"

namespace km::audit {
namespace {

/// A program that reads /dev.
struct Reader {
  std::atomic<DIR*> folder{nullptr};
  unsigned next = 0;  // what of the driver's files comes next
  dirent entry{};
};

constexpr size_t kMostReaders = 16;
constinit Reader readers[kMostReaders];

Reader* reader_of(DIR* folder) {
  for (Reader& each : readers) {
    if (each.folder.load(std::memory_order_acquire) == folder) return &each;
  }
  return nullptr;
}

bool is_dev(std::string_view path) { return path == "/dev" || path == "/dev/"; }

/// Remembers a reader of /dev, if the machine has no such files of its own. Of more than 16 at a
/// time the others see the folder as it is.
void note_reader(DIR* folder) {
  if (own_calls.access("/dev/nvidiactl", 0) == 0) return;
  for (Reader& each : readers) {
    DIR* none = nullptr;
    if (!each.folder.compare_exchange_strong(none, folder)) continue;
    each.next = 0;
    return;
  }
}

/// Writes the name of the driver's file with this number; false if there is none.
bool name_file(unsigned number, char* out) {
  std::string_view name = "nvidia";
  const unsigned devices = driver_files.devices();
  const bool is_control = number >= devices;
  if (is_control && number - devices >= std::size(kControlNames)) return false;
  if (is_control) name = kControlNames[number - devices];
  for (const char each : name) *out++ = each;
  if (!is_control && number >= 10) *out++ = static_cast<char>('0' + number / 10);
  if (!is_control) *out++ = static_cast<char>('0' + number % 10);
  *out = '\0';
  return true;
}

/// The entry after the folder's own ones.
dirent* next_entry(DIR* folder) {
  Reader* const reader = reader_of(folder);
  if (reader == nullptr || !name_file(reader->next, reader->entry.d_name)) return nullptr;
  reader->entry.d_ino = 1 + reader->next++;
  reader->entry.d_reclen = sizeof reader->entry;
  reader->entry.d_type = DT_CHR;
  return &reader->entry;
}

}  // namespace

extern "C" {

static DIR* km_audit_opendir(const char* path) {
  DIR* const folder = own_calls.opendir(path);
  if (folder != nullptr && path != nullptr && is_dev(path)) note_reader(folder);
  StandIn other;
  if (folder != nullptr || !may_be_driver_file(path)) return folder;
  if (*own_calls.errno_location() != ENOENT || !driver_files.find(path, &other)) return nullptr;
  return own_calls.opendir(other.path);
}

static dirent* km_audit_readdir(DIR* folder) {
  dirent* const entry = own_calls.readdir(folder);
  return entry != nullptr ? entry : next_entry(folder);
}

static dirent* km_audit_readdir64(DIR* folder) {
  dirent* const entry = own_calls.readdir64(folder);
  return entry != nullptr ? entry : next_entry(folder);
}

static void km_audit_rewinddir(DIR* folder) {
  if (Reader* const reader = reader_of(folder)) reader->next = 0;
  own_calls.rewinddir(folder);
}

static int km_audit_closedir(DIR* folder) {
  if (Reader* const reader = reader_of(folder)) reader->folder.store(nullptr);
  return own_calls.closedir(folder);
}

static int km_audit_glob(const char* pattern, int flags, int (*failed)(const char*, int),
                         glob_t* out) {
  const bool is_ours = may_be_driver_file(pattern) && (flags & GLOB_ALTDIRFUNC) == 0;
  if (!is_ours) return own_calls.glob(pattern, flags, failed, out);
  // The C library's glob() calls its own functions unless it is given others.
  out->gl_opendir = [](const char* path) { return static_cast<void*>(km_audit_opendir(path)); };
  out->gl_readdir = [](void* folder) { return km_audit_readdir(static_cast<DIR*>(folder)); };
  out->gl_closedir = [](void* folder) { km_audit_closedir(static_cast<DIR*>(folder)); };
  const Overrides paths = path_overrides();
  for (size_t i = 0; i < paths.count; ++i) {
    const std::string_view name(paths.begin[i].name);
    using Stat = int (*)(const char*, struct stat*);
    if (name == "stat") out->gl_stat = reinterpret_cast<Stat>(paths.begin[i].function);
    if (name == "lstat") out->gl_lstat = reinterpret_cast<Stat>(paths.begin[i].function);
  }
  return own_calls.glob(pattern, flags | GLOB_ALTDIRFUNC, failed, out);
}

}  // extern "C"

Overrides listing_overrides() noexcept {
#define KM_LISTING(name, before) \
  {#name, reinterpret_cast<void*>(&before), reinterpret_cast<void**>(&own_calls.name)}
  static const Override all[] = {
      KM_LISTING(opendir, km_audit_opendir),     KM_LISTING(readdir, km_audit_readdir),
      KM_LISTING(readdir64, km_audit_readdir64), KM_LISTING(rewinddir, km_audit_rewinddir),
      KM_LISTING(closedir, km_audit_closedir),   KM_LISTING(glob, km_audit_glob),
      KM_LISTING(glob64, km_audit_glob),
  };
#undef KM_LISTING
  return {all, std::size(all)};
}

}  // namespace km::audit
