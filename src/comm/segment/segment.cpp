#include "comm/segment/segment.h"

#include <kernelmill/base.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/file/file.h"
#include "base/hash.h"

namespace km::comm {
namespace {

constexpr uint64_t kMagic = 0x31304d4d4f434d4bU;  // "KMCOMM01"
constexpr uint64_t kLayoutTimeoutNs = 10'000'000'000U;

/// Files of this process that other ranks still have to open, by their ids' nonces.
struct KeptFiles {
  std::mutex mutex;
  std::multimap<uint64_t, File> files;

  void add(const UniqueId& id, File file) {
    const std::lock_guard lock(mutex);
    files.emplace(id.nonce[0], std::move(file));
  }
};
KeptFiles& kept_files() {
  static auto* const made = new KeptFiles;
  return *made;
}

/// Libraries of one version may still be built from different sources.
uint64_t layout_version() {
  const uint64_t numbers[] = {KM_VERSION_MAJOR,       KM_VERSION_MINOR,   KM_VERSION_PATCH,
                              kStagingBytes,          kRingSlots,         kRingSlotBytes,
                              sizeof(SharedHeader),   sizeof(SharedSlot), sizeof(SharedRing),
                              Layout{2}.size_bytes(), kCallDataBytes};
  return hash64(numbers, sizeof numbers);
}

std::string own_version() {
  return std::to_string(KM_VERSION_MAJOR) + "." + std::to_string(KM_VERSION_MINOR) + "." +
         std::to_string(KM_VERSION_PATCH);
}

Failure system_failure(const Error& error) {
  return make_failure(FailureKind::kSystem, "%s", error.message.c_str());
}

/// The number of this machine since its start. A failure is not kept, since the next try may
/// succeed.
Failure find_host(uint64_t* out) {
  static std::atomic<uint64_t> known{0};
  if (known == 0) {
    const Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id");
    if (!text) return system_failure(text.error());
    known = hash64(*text);
  }
  *out = known;
  return {};
}

/// Memory of a file while the object lives.
class Mapping {
 public:
  Mapping(const File& file, uint64_t size_bytes)
      : base_(mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                   file.get(), 0)),
        size_bytes_(size_bytes) {}
  ~Mapping() {
    if (base_ != MAP_FAILED) munmap(base_, size_bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  /// Null if the process has no room.
  void* base() const { return base_ == MAP_FAILED ? nullptr : base_; }
  void* take() { return std::exchange(base_, MAP_FAILED); }

 private:
  void* base_;
  const uint64_t size_bytes_;
};

Failure no_room() {
  return make_failure(FailureKind::kSystem, "no memory for a communicator: %s",
                      std::strerror(errno));
}

/// Makes the communicator's memory, if no rank has made it or does so.
Failure make_whole(IdPage& page, const UniqueId& id, uint32_t ranks) {
  uint32_t state = 0;
  if (page.layout_state.compare_exchange_strong(state, 1)) {
    Result<File> made = create_shared_memory_file("kernelmill-comm", Layout{ranks}.size_bytes());
    const bool is_made = static_cast<bool>(made);
    if (is_made) {
      page.ranks = ranks;
      page.process = getpid();
      page.file = made->get();
      kept_files().add(id, std::move(*made));
    }
    page.layout_state.store(is_made ? 2 : 0);
    if (!is_made) return system_failure(made.error());
  }
  return {};
}

/// Opens the communicator's memory, which some rank has made.
Failure open_made(const IdPage& page, File* out) {
  Result<File> opened = open_memory_file(page.process, page.file);
  if (!opened) {
    return make_failure(FailureKind::kSystem,
                        "the communicator has failed, or the process %d that made its memory "
                        "cannot be reached (%s)",
                        page.process, opened.error().message.c_str());
  }
  *out = std::move(*opened);
  return {};
}

/// Opens the communicator's memory, which one of the ranks makes.
Failure open_whole(IdPage& page, const UniqueId& id, uint32_t ranks, File* out) {
  for (const uint64_t begin = now_ns(); page.layout_state.load() != 2;) {
    if (page.layout_state.load() == 3) {
      return make_failure(FailureKind::kMismatch,
                          "a rank has another version of this library than this one, which has "
                          "%s: all ranks need the same one",
                          own_version().c_str());
    }
    if (Failure failure = make_whole(page, id, ranks)) return failure;
    if (now_ns() - begin > kLayoutTimeoutNs) {
      return make_failure(FailureKind::kTimeout, "no rank has made the communicator's memory");
    }
    if (page.layout_state.load() != 2) usleep(100);
  }
  return open_made(page, out);
}

Failure open_id(const UniqueId& id, File* out) {
  if (id.magic != kMagic) {
    return make_failure(
        FailureKind::kArgument,
        "this is no unique id of this library: km_comm_id_create and ncclGetUniqueId "
        "make them");
  }
  uint64_t host = 0;
  if (Failure failure = find_host(&host)) return failure;
  if (id.host != host) {
    return make_failure(FailureKind::kArgument,
                        "the unique id is another machine's: MPI connects the ranks of several, if "
                        "all processes have KM_COMM=mpi");
  }
  Result<File> opened = open_memory_file(static_cast<int>(id.process), static_cast<int>(id.file));
  if (!opened) {
    return make_failure(FailureKind::kSystem,
                        "the unique id was used before, its communicator has failed, or its "
                        "process %d cannot be reached (%s): it has to run, as the same user, and "
                        "in the same PID namespace",
                        static_cast<int>(id.process), opened.error().message.c_str());
  }
  *out = std::move(*opened);
  return {};
}

/// Tells the ranks that have joined of one that cannot.
void tell_others(const File& whole, const Failure& failure) {
  const Mapping beginning(whole, sizeof(SharedFailure));
  if (beginning.base() != nullptr) static_cast<SharedFailure*>(beginning.base())->tell(failure);
}

/// Tells the ranks of another version that this one cannot join, if any has made the memory, and
/// keeps them from making it otherwise.
void refuse(IdPage& page, const Failure& failure) {
  const uint64_t begin = now_ns();
  for (uint32_t state = 0; !page.layout_state.compare_exchange_strong(state, 3); state = 0) {
    if (state == 2 || state == 3 || now_ns() - begin > kLayoutTimeoutNs) break;
    usleep(100);  // a rank makes it
  }
  File file(-1);
  if (page.layout_state.load() == 2 && !open_made(page, &file)) tell_others(file, failure);
}

Failure require_version(const UniqueId& id, uint32_t rank, IdPage& page) {
  if (id.version == layout_version()) return {};
  const std::string own = own_version();
  refuse(page, make_failure(FailureKind::kMismatch,
                            "rank %u has another version of this library than the others, %s: all "
                            "ranks need the same one",
                            rank, own.c_str()));
  return make_failure(FailureKind::kArgument,
                      "the unique id is of another version of this library: all ranks need the "
                      "same one, here %s",
                      own.c_str());
}

}  // namespace

void SharedFailure::tell(const Failure& failure) {
  uint32_t none = 0;
  if (state.compare_exchange_strong(none, 1)) {
    kind = failure.kind;
    std::snprintf(text, sizeof text, "%s", failure.text.c_str());
    state.store(2);
  }
  joins.ring();
}

Failure make_unique_id(UniqueId* out) {
  UniqueId id{};
  id.magic = kMagic;
  id.version = layout_version();
  if (Failure failure = find_host(&id.host)) return failure;
  id.process = getpid();
  if (getrandom(id.nonce, sizeof id.nonce, 0) != sizeof id.nonce) return no_room();
  Result<File> file = create_shared_memory_file("kernelmill-comm-id", sizeof(IdPage));
  if (!file) return system_failure(file.error());
  id.file = file->get();
  const Mapping mapping(*file, sizeof(IdPage));
  if (mapping.base() == nullptr) return no_room();
  auto* const page = new (mapping.base()) IdPage{};
  page->id = id;
  kept_files().add(id, std::move(*file));
  *out = id;
  return {};
}

void forget_id(const UniqueId& id) {
  KeptFiles& kept = kept_files();
  const std::lock_guard lock(kept.mutex);
  kept.files.erase(id.nonce[0]);
}

Failure Segment::attach(const UniqueId& id, uint32_t ranks, uint32_t rank,
                        std::unique_ptr<Segment>* out) {
  File page_file(-1), file(-1);
  if (Failure failure = open_id(id, &page_file)) return failure;
  const Mapping mapped_page(page_file, sizeof(IdPage));
  if (mapped_page.base() == nullptr) return no_room();
  IdPage& page = *static_cast<IdPage*>(mapped_page.base());
  if (!page.id.is_same(id)) {
    return make_failure(FailureKind::kArgument,
                        "the unique id was used before: each communicator needs one of its own");
  }
  if (Failure failure = require_version(id, rank, page)) return failure;
  if (Failure failure = open_whole(page, id, ranks, &file)) return failure;
  Mapping whole(file, Layout{page.ranks}.size_bytes());
  if (whole.base() == nullptr) {
    Failure failure = no_room();
    tell_others(file, make_failure(failure.kind, "rank %u has %s", rank, failure.text.c_str()));
    return failure;
  }
  std::unique_ptr<Segment> made(new Segment(whole.take(), page.ranks));
  if (page.ranks != ranks) {
    // The others wait for a rank that cannot come.
    const Failure failure = make_failure(
        FailureKind::kMismatch, "one rank says %u ranks, another one %u", ranks, page.ranks);
    made->fail(failure);
    return failure;
  }
  *out = std::move(made);
  return {};
}

void Segment::fail(const Failure& failure) {
  SharedHeader& header = this->header();
  header.failure.tell(failure);
  header.board.ring();
  header.collective.ring();
  for (uint32_t i = 0; i < ranks(); ++i) slot(i).bell.ring();
}

Segment::~Segment() { munmap(base_, layout_.size_bytes()); }

}  // namespace km::comm
