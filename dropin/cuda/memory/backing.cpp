#include "dropin/cuda/memory/backing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/file/file.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

CUresult no_memory(const char* what) {
  return fail(CUDA_ERROR_OUT_OF_MEMORY, "%s: %s", what, std::strerror(errno));
}

}  // namespace

Arena& Arena::instance() {
  static Arena& arena = *new Arena;  // never destroyed: calls may come during exit
  return arena;
}

CUresult Arena::take(uint64_t size_bytes, uint64_t* out_offset) {
  KM_ASSERT(size_bytes != 0, "a piece has bytes");
  const std::lock_guard lock(mutex_);
  if (file_ < 0) {
    Result<File> made = create_memory_file("kernelmill");
    if (!made) return no_memory("memory for mappings cannot be made");
    file_ = made->release();
  }
  for (auto piece = free_.begin(); piece != free_.end(); ++piece) {
    if (piece->second < size_bytes) continue;
    const auto [offset, have] = *piece;
    free_.erase(piece);
    if (have > size_bytes) free_.emplace(offset + size_bytes, have - size_bytes);
    *out_offset = offset;
    return CUDA_SUCCESS;
  }
  if (!resize_file(file_, end_ + size_bytes)) {
    return no_memory("memory for mappings cannot be made larger");
  }
  *out_offset = end_;
  end_ += size_bytes;
  return CUDA_SUCCESS;
}

void Arena::give_back(uint64_t offset, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(file_ >= 0 && size_bytes != 0 && offset + size_bytes <= end_,
            "only pieces of the file are freed");
  // Frees the pages; they read as zeros when the piece is used again.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(size_bytes));
  auto after = free_.lower_bound(offset);
  KM_ASSERT(after == free_.end() || after->first >= offset + size_bytes,
            "a piece is freed once, and ends before the next free one");
  if (after != free_.end() && after->first == offset + size_bytes) {
    size_bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    KM_ASSERT(before->first + before->second <= offset, "a piece begins after the last free one");
    if (before->first + before->second == offset) {
      before->second += size_bytes;
      return;
    }
  }
  free_.emplace(offset, size_bytes);
}

Backing::~Backing() {
  if (own_file_ >= 0) {
    close(own_file_);
  } else if (size_bytes_ != 0) {
    Arena::instance().give_back(offset_, size_bytes_);
  }
}

CUresult Backing::create(uint64_t size_bytes, bool shareable) {
  KM_ASSERT(own_file_ < 0 && size_bytes_ == 0, "a backing is made once");
  if (!shareable) {
    CU_TRY(Arena::instance().take(size_bytes, &offset_));
    size_bytes_ = size_bytes;
    return CUDA_SUCCESS;
  }
  Result<File> made = create_shared_memory_file("kernelmill", size_bytes);
  if (!made) return no_memory("memory to share cannot be made");
  own_file_ = made->release();
  size_bytes_ = size_bytes;
  return CUDA_SUCCESS;
}

CUresult Backing::import(int file) {
  KM_ASSERT(own_file_ < 0 && size_bytes_ == 0, "a backing is made once");
  struct stat info{};
  if (!has_fixed_size(file) || fstat(file, &info) != 0 || info.st_size <= 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "file descriptor %d does not refer to shared memory",
                file);
  }
  own_file_ = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own_file_ < 0) return no_memory("shared memory cannot be opened");
  size_bytes_ = static_cast<uint64_t>(info.st_size);
  return CUDA_SUCCESS;
}

CUresult Backing::share(int* out_file) const {
  const int copy = fcntl(own_file_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) {
    return fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot create a file descriptor: %s",
                std::strerror(errno));
  }
  *out_file = copy;
  return CUDA_SUCCESS;
}

CUresult Backing::map_at(uint64_t address, uint64_t size_bytes) const {
  KM_ASSERT(size_bytes <= size_bytes_, "a mapping is no larger than its backing");
  const int file = own_file_ >= 0 ? own_file_ : Arena::instance().file();
  void* const at = reinterpret_cast<void*>(address);
  void* const mapped =
      mmap(at, size_bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset_));
  return mapped == at ? CUDA_SUCCESS : no_memory("memory cannot be mapped");
}

}  // namespace km::dropin
