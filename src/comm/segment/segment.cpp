#include "comm/segment/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/hash.h"

namespace km::comm {
namespace {

constexpr uint64_t kMagic = 0x31304d4d4f434d4bU;  // "KMCOMM01"
constexpr uint64_t kAttachTimeoutNs = 10'000'000'000U;

/// Ids of this process whose memory is kept open, by their nonces.
struct KeptIds {
  std::mutex mutex;
  std::map<uint64_t, int> files;
};
KeptIds& kept_ids() {
  static auto* const made = new KeptIds;
  return *made;
}

uint64_t host_number() {
  static const uint64_t number = [] {
    char text[64] = {};
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      const ssize_t got = read(file, text, sizeof text);
      close(file);
      if (got <= 0) return uint64_t{0};
    }
    return hash64(text, sizeof text);
  }();
  return number;
}

Failure system_failure(const char* what) {
  return make_failure(FailureKind::kSystem, "%s: %s", what, std::strerror(errno));
}

/// Closes a file that is held for the length of a call.
class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }
  int take() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// A descriptor of the id's memory: a copy of this process's, or one of the process that made it.
Failure open_memory(const UniqueId& id, int* out) {
  if (id.process == getpid()) {
    KeptIds& kept = kept_ids();
    const std::lock_guard lock(kept.mutex);
    const auto found = kept.files.find(id.nonce[0]);
    if (found == kept.files.end()) {
      return make_failure(FailureKind::kArgument,
                          "the unique id was used before: each communicator needs one of its own");
    }
    *out = fcntl(found->second, F_DUPFD_CLOEXEC, 0);
    return *out >= 0 ? Failure{} : system_failure("no file descriptor for a communicator");
  }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(id.process),
                static_cast<long long>(id.file));
  *out = open(path, O_RDWR | O_CLOEXEC);
  if (*out >= 0) return {};
  return make_failure(FailureKind::kSystem,
                      "the process %lld, which made the unique id, cannot be reached (%s): it has "
                      "to run, as the same user, and in the same PID namespace",
                      static_cast<long long>(id.process), std::strerror(errno));
}

void* map(int file, uint64_t size_bytes) {
  void* const base =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  return base == MAP_FAILED ? nullptr : base;
}

/// Gives the memory its size, once for all ranks.
Failure lay_out(SharedHeader& header, int file, uint32_t ranks) {
  uint32_t state = 0;
  if (header.layout_state.compare_exchange_strong(state, 1)) {
    header.ranks = ranks;
    header.size_bytes = Layout{ranks}.size_bytes();
    const bool is_sized = ftruncate(file, static_cast<off_t>(header.size_bytes)) == 0;
    const Failure failure = is_sized ? Failure{} : system_failure("no memory for a communicator");
    header.layout_state.store(is_sized ? 2 : 0);
    return failure;
  }
  for (const uint64_t begin = now_ns(); header.layout_state.load() != 2;) {
    if (now_ns() - begin > kAttachTimeoutNs) {
      return make_failure(FailureKind::kTimeout, "no rank has laid out the communicator's memory");
    }
    usleep(100);
  }
  if (header.ranks == ranks) return {};
  return make_failure(FailureKind::kMismatch, "one rank says %u ranks, another one %u", ranks,
                      header.ranks);
}

}  // namespace

Failure make_unique_id(UniqueId* out) {
  UniqueId id{};
  id.magic = kMagic;
  id.host = host_number();
  id.process = getpid();
  if (getrandom(id.nonce, sizeof id.nonce, 0) != sizeof id.nonce) {
    return system_failure("no random number");
  }
  OpenFile file(memfd_create("kernelmill-comm", MFD_CLOEXEC));
  if (file.get() < 0) return system_failure("no memory for a communicator");
  id.file = file.get();
  if (ftruncate(file.get(), kSharedPageBytes) != 0) {
    return system_failure("no memory for a communicator");
  }
  void* const base = map(file.get(), kSharedPageBytes);
  if (base == nullptr) return system_failure("no memory for a communicator");
  new (base) SharedHeader{};
  static_cast<SharedHeader*>(base)->id = id;
  munmap(base, kSharedPageBytes);
  KeptIds& kept = kept_ids();
  const std::lock_guard lock(kept.mutex);
  kept.files.emplace(id.nonce[0], file.get());
  file.take();
  *out = id;
  return {};
}

void forget_id(const UniqueId& id) {
  if (id.process != getpid()) return;
  KeptIds& kept = kept_ids();
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.files.find(id.nonce[0]);
  if (found == kept.files.end()) return;
  close(found->second);
  kept.files.erase(found);
}

Failure Segment::attach(const UniqueId& id, uint32_t ranks, std::unique_ptr<Segment>* out) {
  if (id.magic != kMagic) {
    return make_failure(FailureKind::kArgument,
                        "this is no unique id of this library: ncclGetUniqueId makes them");
  }
  if (id.host != host_number()) {
    return make_failure(FailureKind::kArgument,
                        "the unique id is another machine's: the ranks of a communicator run on "
                        "one machine");
  }
  int opened = -1;
  if (Failure failure = open_memory(id, &opened)) return failure;
  const OpenFile file(opened);
  struct stat status{};
  if (fstat(opened, &status) != 0 || status.st_size < static_cast<off_t>(kSharedPageBytes)) {
    return make_failure(FailureKind::kArgument, "the unique id's memory is gone");
  }
  void* base = map(opened, kSharedPageBytes);
  if (base == nullptr) return system_failure("no memory for a communicator");
  auto* const header = static_cast<SharedHeader*>(base);
  Failure failure;
  if (!header->id.is_same(id)) {
    failure = make_failure(FailureKind::kArgument, "the unique id's memory is gone");
  } else {
    failure = lay_out(*header, opened, ranks);
  }
  munmap(base, kSharedPageBytes);
  if (failure) return failure;
  base = map(opened, Layout{ranks}.size_bytes());
  if (base == nullptr) return system_failure("no memory for a communicator");
  out->reset(new Segment(base, ranks));
  return {};
}

Segment::~Segment() { munmap(base_, layout_.size_bytes()); }

}  // namespace km::comm
