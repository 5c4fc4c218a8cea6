#include "backends/cpu/memory/shared_pages.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "backends/cpu/threads/sanitizers.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint64_t kPieceBytes = 64 << 10;

/// A range that the fault handler reads; an end of 0 means none.
struct Range {
  std::atomic<uint64_t> begin{0}, end{0};
  void set(uint64_t new_begin, uint64_t new_end) {
    end.store(0);
    begin.store(new_begin);
    end.store(new_end);
  }
  KM_NO_SANITIZE bool holds(uint64_t address) const {
    return address < end.load() && address >= begin.load();
  }
};

// A fault reaches its handler before this many further moves, so older ones are forgotten.
constexpr size_t kMovesRemembered = 16;
Range moving;
Range moved[kMovesRemembered];
size_t next_moved = 0;

void* as_pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

Error no_memory(const char* what) {
  const int code = errno;
  Error error = make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "memory to be shared cannot be %s: %s",
                           what, strerror(code));
  error.native_code = code;
  return error;
}

bool is_zero(const uint8_t* bytes, uint64_t size_bytes) {
  KM_ASSERT(size_bytes != 0, "a piece of a range is empty");
  return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size_bytes - 1) == 0;
}

/// Copies the bytes of a range that are not zero, so that untouched memory allocates no pages in
/// the file.
bool copy_into(const File& file, const GuardedRange& range) {
  void* const made = mmap(nullptr, range.size_bytes(), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (made == MAP_FAILED) return false;
  auto* const to = static_cast<uint8_t*>(made);
  for (uint64_t at = 0; at < range.size_bytes(); at += kPieceBytes) {
    const uint64_t size_bytes = std::min(kPieceBytes, range.size_bytes() - at);
    if (!is_zero(range.data() + at, size_bytes)) {
      std::memcpy(to + at, range.data() + at, size_bytes);
    }
  }
  munmap(made, range.size_bytes());
  return true;
}

/// Makes threads that write to the range wait while it lives.
class Move {
 public:
  explicit Move(const GuardedRange& range) : range_(range) {
    KM_ASSERT(moving.end.load() == 0, "two ranges move at a time");
    moving.set(range.begin(), range.end());
    moved[next_moved].set(range.begin(), range.end());
    is_held_ = mprotect(as_pointer(range.begin()), range.size_bytes(), PROT_READ) == 0;
  }
  ~Move() {
    // The whole range becomes writable again, because a failure may have stopped halfway.
    mprotect(as_pointer(range_.begin()), range_.size_bytes(), PROT_READ | PROT_WRITE);
    next_moved = (next_moved + 1) % kMovesRemembered;
    moving.set(0, 0);
  }
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;
  bool is_held() const { return is_held_; }

 private:
  const GuardedRange& range_;
  bool is_held_ = false;
};

}  // namespace

Result<File> move_into_file(const GuardedRange& range) {
  KM_ASSIGN(File file, create_shared_memory_file("kernelmill-shared", range.size_bytes()));
  const Move move(range);
  if (!move.is_held() || !copy_into(file, range)) return no_memory("copied");
  void* const at = as_pointer(range.begin());
  if (mmap(at, range.size_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           file.get(), 0) != at) {
    return no_memory("mapped");
  }
  return file;
}

void forget_move(const GuardedRange& range) {
  for (Range& each : moved) {
    if (each.begin.load() == range.begin()) each.set(0, 0);
  }
}

bool replace_file_by_pages(const GuardedRange& range) {
  void* const at = as_pointer(range.begin());
  return mmap(at, range.size_bytes(), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at;
}

KM_NO_SANITIZE bool wait_while_moving(uint64_t address) noexcept {
  if (moving.holds(address)) {
    while (moving.holds(address)) sched_yield();
    return true;
  }
  for (const Range& each : moved) {
    if (each.holds(address)) return true;
  }
  return false;
}

}  // namespace km::cpu
