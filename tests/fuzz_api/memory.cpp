#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace km::fuzz {

GuardedPages::GuardedPages(size_t size_bytes) : size_bytes_(size_bytes) {
  void* const memory = mmap(nullptr, size_bytes + kPageBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::abort();
  }
  begin_ = static_cast<uint8_t*>(memory);
  mprotect(end(), kPageBytes, PROT_NONE);
}

GuardedPages::~GuardedPages() { munmap(begin_, size_bytes_ + kPageBytes); }

CallMemory::CallMemory() : pages_(kPieces * (kPieceBytes + kPageBytes)) {
  for (size_t i = 0; i < kPieces; ++i) {
    mprotect(pages_.begin() + i * (kPieceBytes + kPageBytes) + kPieceBytes, kPageBytes, PROT_NONE);
  }
}

void* CallMemory::take(size_t size_bytes) {
  if (size_bytes > kPieceBytes || used_ == kPieces) return nullptr;
  uint8_t* const piece = pages_.begin() + used_++ * (kPieceBytes + kPageBytes);
  return piece + kPieceBytes - size_bytes;
}

HostMemory::HostMemory() : data_(kDataBytes), pages_(kPagesBytes), words_(kPageBytes) {}

void* HostMemory::data(size_t size_bytes) const {
  return data_.end() - std::min(size_bytes, kDataBytes);
}

void* HostMemory::pages(size_t size_bytes, uint64_t choice) const {
  if (size_bytes >= kPagesBytes) return pages_.begin();
  const size_t room = kPagesBytes - size_bytes;
  const size_t offset = choice % (room + 1);
  return pages_.begin() + (choice & 1 ? offset : offset / kPageBytes * kPageBytes);
}

}  // namespace km::fuzz
