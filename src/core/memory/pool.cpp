#include "core/memory/pool.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstring>

#include "base/assert.h"
#include "base/integers.h"
#include "base/text.h"
#include "core/memory/submission.h"
#include "core/object/backend_call.h"
#include "core/stream/stream_capture.h"

namespace km {
namespace {

constexpr uint64_t kStepBytes = 256;
constexpr uint64_t kLargestBytes = uint64_t{1} << 62;
constexpr uint32_t kEvenClasses = 8;  // multiples of 256 bytes, up to 2 KiB
constexpr uint32_t kEvenShift = 11;   // larger sizes: eight classes for each power of two
constexpr size_t kLooks = 64;         // busy blocks that are examined before a new one is allocated

}  // namespace

uint64_t Pool::class_bytes(uint64_t size_bytes) {
  const uint64_t step = std::max(kStepBytes, std::bit_floor(size_bytes - 1) / 8);
  return round_up(size_bytes, step);
}

size_t Pool::class_index(uint64_t class_bytes) {
  KM_ASSERT(class_bytes != 0 && class_bytes % kStepBytes == 0, "a class has a size in steps");
  if (class_bytes <= kEvenClasses * kStepBytes) return class_bytes / kStepBytes - 1;
  const auto shift = static_cast<uint32_t>(std::bit_width(class_bytes - 1)) - 1;
  const uint64_t steps = class_bytes >> (shift - 3);  // a class is 9 to 16 steps large
  return kEvenClasses + (shift - kEvenShift) * 8 + (steps - 9);
}

Result<Ref<Pool>> Pool::create(Context& context, uint64_t limit_bytes) {
  return Ref<Pool>::adopt(new Pool(context, limit_bytes));
}

Pool::Pool(Context& context, uint64_t limit_bytes) : ContextChild(context) {
  info_.struct_size = sizeof info_;
  info_.limit_bytes = limit_bytes;
  info_.release_threshold_bytes = UINT64_MAX;
}

Pool::~Pool() {
  while (Memory* block = take_surplus(0, false)) block->retire();
  KM_ASSERT(info_.used_block_count == 0, "a block in use keeps its pool");
  KM_ASSERT(info_.reserved_bytes == 0, "all blocks have been returned");
}

void Pool::handle_gone() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  while (Memory* block = take_surplus(0, false)) block->retire();
  unref();
}

Memory* Pool::take_at(SizeClass& size_class, size_t index) {
  KM_ASSERT(index < size_class.free.size(), "the block is free");
  Memory* block = size_class.free[index];
  size_class.free.erase(size_class.free.begin() + static_cast<std::ptrdiff_t>(index));
  return block;
}

/// The search starts with the block freed last, which is likely to be cached, and then tries the
/// blocks freed first, which are likely to be idle.
Memory* Pool::take_free(SizeClass& size_class, const kmb_stream* stream, size_t limit) {
  const size_t count = size_class.free.size();
  const size_t from_end = std::min(count, limit);
  for (size_t i = count; i-- > count - from_end;) {
    if (size_class.free[i]->is_free_for(stream)) return take_at(size_class, i);
  }
  for (size_t i = 0; i < std::min(count - from_end, limit); ++i) {
    if (size_class.free[i]->is_free_for(stream)) return take_at(size_class, i);
  }
  return nullptr;
}

void Pool::count_use(uint64_t block_bytes) {
  info_.used_bytes += block_bytes;
  KM_ASSERT(info_.used_bytes <= info_.reserved_bytes, "a block that is used is reserved");
  info_.used_high_bytes = std::max(info_.used_high_bytes, info_.used_bytes);
  ++info_.used_block_count;
  ++info_.allocation_count;
}

Memory* Pool::reuse(uint64_t block_bytes, const kmb_stream* stream, size_t limit) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(class_index(block_bytes) < kClassCount, "each size has a class");
  SizeClass& size_class = classes_[class_index(block_bytes)];
  Memory* block = take_free(size_class, stream, limit);
  if (block == nullptr) return nullptr;
  KM_ASSERT(block->block_bytes() >= block_bytes, "blocks of a class are of its size");
  count_use(block_bytes);
  ++info_.reuse_count;
  return block;
}

Result<Ref<Memory>> Pool::allocate(Stream* stream, uint64_t size_bytes, bool zeroed,
                                   uint64_t element_size_bytes) {
  if (stream != nullptr && stream->is_capturing()) [[unlikely]]
    return refuse_capture(*stream, "allocating memory in the order of");
  KM_TRY(call_backend(backend().context_status, context().native()));
  if (size_bytes > kLargestBytes) return over_limit(size_bytes);
  const uint64_t block_bytes = class_bytes(size_bytes);
  Memory* block = reuse(block_bytes, stream != nullptr ? stream->native() : nullptr, kLooks);
  const bool reused = block != nullptr;
  if (!reused) {
    KM_ASSIGN(block, add_block(stream, block_bytes, zeroed));
  }
  Ref<Memory> memory = block->start_use(*this, size_bytes, element_size_bytes);
  memory->count_block();
  if (reused && zeroed) KM_TRY(zero(*memory, stream));
  return memory;
}

/// Counts a new block; false if the pool's limit does not allow it.
bool Pool::reserve(uint64_t block_bytes) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(info_.limit_bytes == 0 || info_.reserved_bytes <= info_.limit_bytes,
            "the pool keeps its limit");
  if (info_.limit_bytes != 0 && block_bytes > info_.limit_bytes - info_.reserved_bytes) {
    return false;
  }
  SizeClass& size_class = classes_[class_index(block_bytes)];
  if (size_class.free.capacity() == size_class.block_count) {
    size_class.free.reserve(size_class.block_count * 2 + 4);
  }
  ++size_class.block_count;
  info_.reserved_bytes += block_bytes;
  info_.reserved_high_bytes = std::max(info_.reserved_high_bytes, info_.reserved_bytes);
  count_use(block_bytes);
  return true;
}

/// Cancels the reservation unless the block was created.
struct Pool::Reservation {
  Pool& pool;
  const uint64_t block_bytes;
  bool is_kept = false;
  ~Reservation() {
    if (!is_kept) pool.cancel(block_bytes);
  }
};

void Pool::cancel(uint64_t block_bytes) {
  const std::lock_guard lock(mutex_);
  KM_ASSERT(classes_[class_index(block_bytes)].block_count != 0, "the block was counted");
  KM_ASSERT(info_.used_bytes >= block_bytes, "a reservation counts as used");
  KM_ASSERT(info_.used_block_count != 0 && info_.allocation_count != 0,
            "a reservation counts as a block and an allocation");
  --classes_[class_index(block_bytes)].block_count;
  info_.reserved_bytes -= block_bytes;
  info_.used_bytes -= block_bytes;
  --info_.used_block_count;
  --info_.allocation_count;
}

Result<Memory*> Pool::add_block(Stream* stream, uint64_t block_bytes, bool zeroed) {
  while (!reserve(block_bytes)) {
    // Free blocks of other sizes are returned to the backend to make room.
    Memory* surplus = block_bytes <= info_.limit_bytes
                          ? take_surplus(info_.limit_bytes - block_bytes, true)
                          : nullptr;
    if (surplus == nullptr) return over_limit(block_bytes);
    surplus->retire();
  }
  Reservation reservation{*this, block_bytes};
  Result<Ref<Memory>> block = Memory::create_block(*this, stream, block_bytes, zeroed);
  if (!block && block.error().status == KM_ERROR_OUT_OF_DEVICE_MEMORY) {
    trim(0);
    block = Memory::create_block(*this, stream, block_bytes, zeroed);
  }
  if (!block) return std::move(block.error());
  reservation.is_kept = true;
  return (*block).release();
}

Error Pool::over_limit(uint64_t block_bytes) const {
  const km_pool_info now = info();
  return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                    "%s asked for; the pool has %s reserved, %" PRIu64
                    " of them in use, and its limit is %" PRIu64,
                    counted(block_bytes, "byte").c_str(),
                    counted(now.reserved_bytes, "byte").c_str(), now.used_bytes, now.limit_bytes);
}

/// Zeroes a reused block. Without a stream, all its earlier uses are over, so the host may write
/// directly.
Status Pool::zero(Memory& memory, Stream* stream) {
  if (stream == nullptr && memory.host_pointer() != nullptr) {
    std::memset(memory.host_pointer(), 0, memory.size_bytes());
    return {};
  }
  Ref<Stream> own;
  if (stream == nullptr) {
    KM_ASSIGN(own, Stream::share_default(context()));
  }
  Stream& queue = stream != nullptr ? *stream : *own;
  MemoryUse uses[] = {
      MemoryUse::of(memory, memory.address(), memory.size_bytes(), AccessKind::kWrite)};
  KM_TRY(submit(queue, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(backend().fill, queue.native(), memory.address(), uint32_t{0}, uint32_t{1},
                        memory.size_bytes(), ticket);
  }));
  if (stream != nullptr) return {};
  KM_ASSIGN(const MayBlock may_block, require_may_block());
  return queue.synchronize(may_block, KMB_WAIT_FOREVER);
}

void Pool::take_back(Memory& block) {
  block.end_use();
  uint64_t keep_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    KM_ASSERT(info_.used_bytes >= block.block_bytes(), "the block was used");
    KM_ASSERT(info_.used_block_count != 0, "the block was counted");
    info_.used_bytes -= block.block_bytes();
    --info_.used_block_count;
    SizeClass& size_class = classes_[class_index(block.block_bytes())];
    KM_ASSERT(size_class.free.size() < size_class.block_count &&
                  size_class.block_count <= size_class.free.capacity(),
              "reserve() made room for all blocks of the class, free ones and others");
    size_class.free.push_back(&block);
    keep_bytes = closed_ || is_lost() ? 0 : info_.release_threshold_bytes;
    if (info_.reserved_bytes <= keep_bytes) return;
  }
  give_back(keep_bytes);
}

/// Returns free blocks to the backend while the pool exceeds `keep_bytes`: first idle ones, then
/// those that the backend frees after their last use. Memory is thus freed without another call of
/// the program.
void Pool::give_back(uint64_t keep_bytes) {
  trim(keep_bytes);
  while (Memory* surplus = take_surplus(keep_bytes, false)) surplus->retire();
}

/// Removes a free block while the pool exceeds `keep_bytes`: from the largest size class, the one
/// that was freed first.
Memory* Pool::take_surplus(uint64_t keep_bytes, bool idle_only) {
  const std::lock_guard lock(mutex_);
  if (info_.reserved_bytes <= keep_bytes) return nullptr;
  for (size_t k = kClassCount; k-- > 0;) {
    SizeClass& size_class = classes_[k];
    for (size_t i = 0; i < size_class.free.size(); ++i) {
      if (idle_only && !size_class.free[i]->is_free_for(nullptr)) continue;
      Memory* block = take_at(size_class, i);
      KM_ASSERT(size_class.block_count != 0, "the block was counted");
      KM_ASSERT(info_.reserved_bytes >= block->block_bytes(), "the block was reserved");
      --size_class.block_count;
      info_.reserved_bytes -= block->block_bytes();
      return block;
    }
  }
  return nullptr;
}

void Pool::set_release_threshold(uint64_t threshold_bytes) {
  {
    const std::lock_guard lock(mutex_);
    info_.release_threshold_bytes = threshold_bytes;
  }
  give_back(threshold_bytes);
}

void Pool::trim(uint64_t keep_bytes) {
  while (Memory* block = take_surplus(keep_bytes, true)) block->retire();
}

km_pool_info Pool::info() const {
  const std::lock_guard lock(mutex_);
  return info_;
}

void Pool::reset_high_water() {
  const std::lock_guard lock(mutex_);
  info_.used_high_bytes = info_.used_bytes;
  info_.reserved_high_bytes = info_.reserved_bytes;
}

}  // namespace km
