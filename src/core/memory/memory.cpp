#include "core/memory/memory.h"

#include <sched.h>

#include <cinttypes>
#include <memory>

#include "base/assert.h"
#include "base/text.h"
#include "core/context/call_findings.h"
#include "core/memory/mapped_file.h"
#include "core/memory/pool.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/object/handles.h"
#include "core/stream/stream_capture.h"

namespace km {
namespace {

constexpr uint64_t kLeastAlignment = 256;

uint64_t value_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

HandleTable& memories() { return handle_table(ObjectType::kMemory); }

FoundMemory find_in(const AddressMap& ranges, uint64_t address) {
  const std::optional<AddressRange> range = ranges.find(address);
  if (!range) return {};
  FoundMemory found(memories().pin(range->id));
  return found && found->holds(address) ? std::move(found) : FoundMemory();
}

}  // namespace

AddressMap& Memory::ranges() {
  return space_ == Space::kHost ? context().host_ranges() : context().device_ranges();
}

void Memory::count(km_allocation_kind kind) {
  if (kind == KM_ALLOCATION_UNKNOWN) return;  // unknown means that no caller allocated this memory
  KM_ASSERT(counted_bytes_ == 0 && tracking_id_ == 0, "memory is counted once");
  if (kind == KM_ALLOCATION_DEVICE || kind == KM_ALLOCATION_POOL) {
    counted_bytes_ = size_bytes();
    context().memory_profile().add(counted_bytes_);
  }
  if (context().tracker().is_on()) [[unlikely]]
    tracking_id_ = context().tracker().add(kind, range_begin(), size_bytes());
}

void Memory::uncount() {
  KM_ASSERT(counted_bytes_ == 0 || counted_bytes_ <= info_.size_bytes,
            "memory counts for no more bytes than the device allocated");
  if (counted_bytes_ != 0) {
    context().memory_profile().remove(std::exchange(counted_bytes_, 0));
  }
  if (tracking_id_ != 0) context().tracker().remove(std::exchange(tracking_id_, 0));
}

Status Memory::require_writable(const char* what) const {
  if (file_ == nullptr || file_->is_writable()) return {};
  return make_error(KM_ERROR_NOT_PERMITTED,
                    "%s maps '%.1000s' read-only; map it with KM_MAP_PRIVATE to change it", what,
                    file_->path().c_str());
}

/// Needs no lock: the memory is new, and no other thread knows it yet.
void Memory::order_uses() {
  if (!context().is_ordered()) return;
  KM_ASSERT(accesses_ == nullptr, "memory is ordered before it is used");
  own_accesses_ = std::make_unique<AccessList>(&own_uses_);
  accesses_ = own_accesses_.get();
}

/// Records the allocation as a write: uses on other streams must come after the allocation on its
/// stream.
void Memory::note_birth(Stream& stream) {
  if (accesses_ == nullptr || info_.ready_ticket == 0) return;
  const std::lock_guard lock(accesses_->lock());
  accesses_->make_room(stream.number(), 1);
  accesses_->note(stream, {address(), address() + info_.size_bytes, AccessKind::kWrite},
                  info_.ready_ticket);
}

/// Copies the tickets of the latest uses, which accesses() keeps in itself, to own_uses_.
void Memory::settle_uses() noexcept {
  if (own_accesses_ == nullptr) return;
  const std::lock_guard lock(own_accesses_->lock());
  own_accesses_->settle();
}

bool Memory::is_free_for(const kmb_stream* stream) {
  KM_ASSERT(uses_ == &own_uses_, "a block has its uses to itself, unlike a symbol");
  settle_uses();
  return own_uses_.is_free_for(stream);
}

void Memory::record_use_locked(Stream& stream, uint64_t ticket) noexcept {
  const std::lock_guard lock(own_accesses_->lock());
  own_accesses_->settle();
  own_uses_.record_alone(stream, ticket);
}

Status Memory::publish(Space space, km_allocation_kind kind) {
  if (info_.size_bytes == 0) return {};
  KM_ASSERT(id_ == 0, "memory is published once");
  space_ = space;
  size_bytes_.store(info_.size_bytes, std::memory_order_relaxed);
  const uint64_t id = memories().insert(this);
  if (id == 0) return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "too many allocations");
  id_ = id;
  const uint64_t begin = range_begin();
  const std::optional<AddressRange> in_the_way =
      ranges().insert({begin, begin + info_.size_bytes, id});
  if (!in_the_way) {
    count(kind);
    return {};
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "the %s at 0x%" PRIx64 " overlap%s memory that is in use already, 0x%" PRIx64
                    " to 0x%" PRIx64,
                    counted(info_.size_bytes, "byte").c_str(), begin,
                    info_.size_bytes == 1 ? "s" : "", in_the_way->begin, in_the_way->end);
}

void Memory::last_reference_gone() {
  if (pool_ != nullptr) {
    const Ref<Object> kept = std::move(owner_);  // the pool must outlive take_back()
    pool_->take_back(*this);
  } else {
    remove();
  }
}

void Memory::retire() {
  KM_ASSERT(size_bytes() == 0, "only a free block is returned");
  KM_ASSERT(!owner_, "a returned block no longer keeps its pool");
  pool_ = nullptr;
  remove();
}

void Memory::remove() {
  uncount();
  KM_ASSERT(counted_bytes_ == 0 && tracking_id_ == 0, "destroyed memory is no longer counted");
  if (id_ == 0) {
    delete this;
    return;
  }
  // The range leaves the map before the backend can allocate the addresses again for another
  // thread.
  ranges().erase(range_begin(), id_);
  memories().destroy(id_);
}

void Memory::note_in_profile() {
  is_counted_ = true;
  context().profiler().memory_changed(static_cast<int64_t>(size_bytes()));
}

Memory::~Memory() {
  if (native_ == nullptr) return;
  if (is_counted_) context().profiler().memory_changed(-static_cast<int64_t>(size_bytes()));
  settle_uses();
  const std::span<const kmb_use> uses = own_uses_.uses();
  backend().memory_destroy(native_, uses.data(), uses.size());
}

Result<Ref<Memory>> Memory::create(Context& context, Stream* stream, uint64_t size_bytes,
                                   km_slice_flags flags, uint64_t element_size_bytes,
                                   km_allocation_kind kind) {
  if (stream != nullptr && stream->is_capturing()) [[unlikely]]
    return refuse_capture(*stream, "allocating memory in the order of");
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, element_size_bytes));
  if (size_bytes == 0) return memory;
  KM_TRY(call_backend(context.backend().memory_create, context.native(),
                      stream != nullptr ? stream->native() : nullptr, size_bytes, uint32_t{flags},
                      &memory->native_, &memory->info_));
  memory->order_uses();
  KM_TRY(memory->publish(Space::kDevice, kind));
  if (stream != nullptr) memory->note_birth(*stream);
  memory->note_in_profile();
  return memory;
}

Result<Ref<Memory>> Memory::create_aligned(Context& context, uint64_t size_bytes, bool zeroed,
                                           uint64_t element_size_bytes, uint64_t alignment_bytes) {
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, element_size_bytes));
  if (size_bytes == 0) return memory;
  // Every backend aligns memory to kLeastAlignment; for a larger alignment, `more` bytes are
  // allocated and the first ones are skipped.
  const uint64_t more = alignment_bytes > kLeastAlignment ? alignment_bytes - kLeastAlignment : 0;
  uint64_t wanted = 0;
  if (__builtin_add_overflow(size_bytes, more, &wanted)) {
    return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                      "%" PRIu64 " bytes at a multiple of %" PRIu64 " are more than 2^64 bytes",
                      size_bytes, alignment_bytes);
  }
  kmb_memory_info& info = memory->info_;
  KM_TRY(call_backend(
      context.backend().memory_create, context.native(), static_cast<kmb_stream*>(nullptr), wanted,
      uint32_t{zeroed ? KM_SLICE_ZEROED : KM_SLICE_DEFAULT}, &memory->native_, &info));
  const uint64_t skipped = (0 - info.address) & (alignment_bytes - 1);
  KM_ASSERT(skipped <= more, "a backend's memory has the least alignment");
  info.address += skipped;
  if (info.host_pointer != nullptr) {
    info.host_pointer = static_cast<char*>(info.host_pointer) + skipped;
  }
  info.size_bytes = size_bytes;
  memory->order_uses();
  KM_TRY(memory->publish(Space::kDevice, KM_ALLOCATION_DEVICE));
  memory->note_in_profile();
  return memory;
}

Result<Ref<Memory>> Memory::create_block(Pool& pool, Stream* stream, uint64_t block_bytes,
                                         bool zeroed) {
  KM_ASSIGN(Ref<Memory> block,
            create(pool.context(), stream, block_bytes, zeroed ? KM_SLICE_ZEROED : KM_SLICE_DEFAULT,
                   1, KM_ALLOCATION_UNKNOWN));
  block->end_use();
  return block;
}

Ref<Memory> Memory::start_use(Pool& pool, uint64_t size_bytes, uint64_t element_size_bytes) {
  KM_ASSERT(this->size_bytes() == 0, "only a free block is handed out");
  KM_ASSERT(!owner_, "a free block keeps no pool: the pool keeps it");
  KM_ASSERT(size_bytes != 0 && size_bytes <= info_.size_bytes,
            "a block is at least as large as the request");
  if (backend().memory_reused != nullptr && native_ != nullptr) backend().memory_reused(native_);
  pool_ = &pool;
  owner_ = Ref<Object>::share(pool);
  element_size_bytes_.store(element_size_bytes, std::memory_order_relaxed);
  size_bytes_.store(size_bytes, std::memory_order_relaxed);
  revive();
  return Ref<Memory>::adopt(this);
}

Result<Ref<Memory>> Memory::from_host(Context& context, void* pointer, uint64_t size_bytes,
                                      uint64_t element_size_bytes) {
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, element_size_bytes));
  auto box = std::make_unique<ReleaseCallbackBox>();
  KM_TRY(call_backend(context.backend().memory_from_host, context.native(), pointer, size_bytes,
                      &ReleaseCallbackBox::run_and_delete, static_cast<void*>(box.get()),
                      &memory->native_, &memory->info_));
  memory->release_ = box.release();  // the backend calls it once and deletes it
  memory->order_uses();
  KM_TRY(memory->publish(Space::kDevice, KM_ALLOCATION_FOREIGN));
  return memory;
}

Result<Ref<Memory>> Memory::map_file(Context& context, std::shared_ptr<const MappedFile> file,
                                     bool is_host, uint64_t element_size_bytes) {
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, element_size_bytes));
  // The backend deletes this reference to the file when the last use of the memory is over.
  using Kept = std::shared_ptr<const MappedFile>;
  auto kept = std::make_unique<Kept>(file);
  KM_TRY(call_backend(
      context.backend().memory_from_host, context.native(), file->pointer(), file->size_bytes(),
      +[](void* last) { const std::unique_ptr<Kept> own(static_cast<Kept*>(last)); },
      static_cast<void*>(kept.get()), &memory->native_, &memory->info_));
  static_cast<void>(kept.release());
  memory->file_ = std::move(file);
  memory->order_uses();
  KM_TRY(memory->publish(is_host ? Space::kHost : Space::kDevice, KM_ALLOCATION_FILE));
  return memory;
}

Result<kmb_shared_memory> Memory::share() const {
  kmb_shared_memory shared{};
  KM_TRY(call_backend(context().backend().memory_share, native_, &shared));
  return shared;
}

void Memory::set_release(km_release_callback release, void* user_data) {
  KM_ASSERT(release_ != nullptr, "only host memory has a release callback");
  *release_ = {release, user_data};
}

Result<Ref<Memory>> Memory::create_host(Context& context, uint64_t size_bytes) {
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, 1));
  KM_TRY(call_backend(context.backend().host_memory_create, context.native(), size_bytes,
                      &memory->native_, &memory->info_));
  memory->order_uses();
  KM_TRY(memory->publish(Space::kHost, KM_ALLOCATION_HOST));
  return memory;
}

Result<Ref<Memory>> Memory::register_host(Context& context, void* pointer, uint64_t size_bytes) {
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, 1));
  KM_TRY(call_backend(context.backend().host_memory_register, context.native(), pointer, size_bytes,
                      &memory->native_, &memory->info_));
  memory->order_uses();
  KM_TRY(memory->publish(Space::kHost, KM_ALLOCATION_FOREIGN));
  return memory;
}

Result<Ref<Memory>> Memory::of_global(const Symbols& symbols, const kmb_global_info& info) {
  Context& context = symbols.module.context();
  const uint64_t element_size = info.element_size_bytes != 0 ? info.element_size_bytes : 1;
  while (const FoundMemory found = find_device_memory(context, info.address)) {
    if (Ref<Memory> shared = found.keep()) return shared;
    sched_yield();  // its last reference was just dropped, so another thread removes the range soon
  }
  Ref<Memory> memory = Ref<Memory>::adopt(new Memory(context, element_size));
  memory->info_ = {info.address, info.host_pointer, info.size_bytes, 0};
  memory->owner_ = Ref<Object>::share(symbols.module);
  KM_ASSERT((symbols.accesses != nullptr) == context.is_ordered(),
            "a module orders its variables where the context orders uses");
  memory->uses_ = &symbols.uses;
  memory->accesses_ = symbols.accesses;
  KM_TRY(memory->publish(Space::kDevice, KM_ALLOCATION_UNKNOWN));
  return memory;
}

Ref<Memory> FoundMemory::keep() const {
  Memory& memory = **this;
  return memory.try_ref() ? Ref<Memory>::adopt(&memory) : Ref<Memory>();
}

FoundMemory find_device_memory(Context& context, uint64_t address) {
  if (FoundMemory found = find_in(context.device_ranges(), address)) return found;
  FoundMemory host = find_in(context.host_ranges(), address);
  if (host && host->address() == value_of(host->host_pointer())) return host;
  return {};
}

FoundMemory find_pinned_memory(Context& context, const void* pointer, uint64_t size_bytes) {
  FoundMemory found = find_in(context.host_ranges(), value_of(pointer));
  if (!found) return {};
  const uint64_t offset = value_of(pointer) - value_of(found->host_pointer());
  KM_ASSERT(offset < found->size_bytes(), "memory that is found by an address holds it");
  if (size_bytes > found->bytes_from(offset)) return {};
  // Mapped files are left out, because their pages may be unmapped.
  if (found->file() != nullptr) return {};
  return found;
}

FoundMemory find_mapped_file(Context& context, const void* pointer) {
  FoundMemory found = find_in(context.host_ranges(), value_of(pointer));
  return found && found->file() != nullptr ? std::move(found) : FoundMemory();
}

Result<FoundMemory> find_device_range(Context& context, uint64_t address, uint64_t size_bytes,
                                      const char* what) {
  FoundMemory found = find_device_memory(context, address);
  if (!found) {
    report_bad_call(
        context, {"illegal-address", std::string("the ") + what + " lies in no allocation", address,
                  size_bytes});
    return make_error(KM_ERROR_OUT_OF_BOUNDS,
                      "%s 0x%" PRIx64 " lies in no allocation of this context of device %s", what,
                      address, context.device().info().uri);
  }
  const uint64_t offset = address - found->address();
  if (size_bytes > found->bytes_from(offset)) {
    report_bad_call(context, {"out-of-bounds",
                              counted(size_bytes, "byte") + " of the " + what +
                                  " reach beyond the end of the allocation",
                              address, size_bytes});
    return make_error(KM_ERROR_OUT_OF_BOUNDS,
                      "%s at %s 0x%" PRIx64
                      " reach%s beyond its allocation: it has %s, and this is offset %" PRIu64,
                      counted(size_bytes, "byte").c_str(), what, address,
                      size_bytes == 1 ? "es" : "", counted(found->size_bytes(), "byte").c_str(),
                      offset);
  }
  return found;
}

}  // namespace km
