#include "core/memory/slice.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <mutex>

#include "base/assert.h"
#include "base/text.h"
#include "core/context/call_findings.h"
#include "core/memory/mapped_file.h"
#include "core/memory/pool.h"
#include "core/object/backend_call.h"
#include "core/stream/stream_capture.h"

namespace km {
namespace {

constexpr uint64_t kPitchBytes = 256;  // rows begin at multiples of this

Result<uint64_t> size_of(uint64_t element_count, uint64_t element_size_bytes) {
  uint64_t size = 0;
  if (element_size_bytes == 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "element_size_bytes is 0");
  }
  if (__builtin_mul_overflow(element_count, element_size_bytes, &size)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "%s of %s are more than 2^64 bytes",
                      counted(element_count, "element").c_str(),
                      counted(element_size_bytes, "byte").c_str());
  }
  return size;
}

Status check_host_range(const void* pointer, uint64_t size_bytes) {
  if (pointer == nullptr) return make_error(KM_ERROR_INVALID_ARGUMENT, "pointer is null");
  if (size_bytes == 0) return make_error(KM_ERROR_INVALID_ARGUMENT, "the range is empty");
  uint64_t end = 0;
  if (!__builtin_add_overflow(reinterpret_cast<uint64_t>(pointer), size_bytes, &end)) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s from %p on reach%s beyond the address space",
                    counted(size_bytes, "byte").c_str(), pointer, size_bytes == 1 ? "es" : "");
}

}  // namespace

Slice::Slice(Ref<Memory> memory, uint64_t offset_bytes, uint64_t element_count,
             uint64_t element_size_bytes, bool is_view)
    : ContextChild(PartOf{*memory}),
      memory_(std::move(memory)),
      offset_bytes_(offset_bytes),
      element_count_(element_count),
      element_size_bytes_(element_size_bytes),
      is_view_(is_view) {
  KM_ASSERT(offset_bytes_ <= memory_->size_bytes() &&
                element_count_ * element_size_bytes_ <= memory_->size_bytes() - offset_bytes_,
            "a slice lies in its memory");
}

Result<Ref<Slice>> Slice::create(Context& context, Stream* stream, uint64_t element_count,
                                 uint64_t element_size_bytes, km_slice_flags flags) {
  KM_ASSIGN(const uint64_t size, size_of(element_count, element_size_bytes));
  KM_ASSIGN(Ref<Memory> memory, Memory::create(context, stream, size, flags, element_size_bytes));
  return make_ref<Slice>(std::move(memory), 0, element_count, element_size_bytes, false);
}

Result<Ref<Slice>> Slice::create_aligned(Context& context, uint64_t element_count,
                                         uint64_t element_size_bytes, uint64_t alignment_bytes,
                                         km_slice_flags flags) {
  if (!std::has_single_bit(alignment_bytes)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "alignment_bytes is %" PRIu64 "; expected a power of two", alignment_bytes);
  }
  KM_ASSIGN(const uint64_t size, size_of(element_count, element_size_bytes));
  const bool zeroed = (flags & KM_SLICE_ZEROED) != 0;
  KM_ASSIGN(Ref<Memory> memory,
            Memory::create_aligned(context, size, zeroed, element_size_bytes, alignment_bytes));
  return make_ref<Slice>(std::move(memory), 0, element_count, element_size_bytes, false);
}

Result<Ref<Slice>> Slice::create_pitched(Context& context, uint64_t row_bytes, uint64_t row_count,
                                         km_slice_flags flags, uint64_t* out_pitch_bytes) {
  if (row_bytes > UINT64_MAX - kPitchBytes) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "rows of %" PRIu64 " bytes are too long",
                      row_bytes);
  }
  const uint64_t pitch = (row_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  KM_ASSIGN(const uint64_t size, size_of(row_count, std::max(pitch, kPitchBytes)));
  KM_ASSIGN(Ref<Slice> slice, create(context, nullptr, pitch == 0 ? 0 : size, 1, flags));
  *out_pitch_bytes = pitch;
  return slice;
}

Result<Ref<Slice>> Slice::from_pool(Pool& pool, Stream* stream, uint64_t element_count,
                                    uint64_t element_size_bytes, km_slice_flags flags) {
  KM_ASSIGN(const uint64_t size, size_of(element_count, element_size_bytes));
  if (size == 0) return create(pool.context(), stream, element_count, element_size_bytes, flags);
  const bool zeroed = (flags & KM_SLICE_ZEROED) != 0;
  KM_ASSIGN(Ref<Memory> memory, pool.allocate(stream, size, zeroed, element_size_bytes));
  return make_ref<Slice>(std::move(memory), 0, element_count, element_size_bytes, false);
}

Result<Ref<Slice>> Slice::map_file(Context& context, const char* path, uint64_t offset_bytes,
                                   uint64_t element_count, uint64_t element_size_bytes,
                                   km_map_flags flags) {
  const bool all = element_count == UINT64_MAX;
  KM_ASSIGN(const uint64_t size, size_of(all ? 1 : element_count, element_size_bytes));
  KM_ASSIGN(
      std::shared_ptr<const MappedFile> file,
      MappedFile::open(path, offset_bytes, all ? UINT64_MAX : size, (flags & KM_MAP_PRIVATE) != 0));
  const uint64_t count = file->size_bytes() / element_size_bytes;
  KM_ASSIGN(Ref<Memory> memory,
            Memory::map_file(context, std::move(file), false, element_size_bytes));
  return make_ref<Slice>(std::move(memory), 0, count, element_size_bytes, false);
}

Result<Ref<Slice>> Slice::from_host(Context& context, void* pointer, uint64_t element_count,
                                    uint64_t element_size_bytes) {
  KM_ASSIGN(const uint64_t size, size_of(element_count, element_size_bytes));
  KM_TRY(check_host_range(pointer, size));
  KM_ASSIGN(Ref<Memory> memory, Memory::from_host(context, pointer, size, element_size_bytes));
  return make_ref<Slice>(std::move(memory), 0, element_count, element_size_bytes, false);
}

Result<Ref<Slice>> Slice::view(uint64_t first_element, uint64_t element_count) const {
  if (first_element > element_count_ || element_count > element_count_ - first_element) {
    report_bad_call(context(), {"out-of-bounds", "a view reaches beyond its slice",
                                address() + first_element * element_size_bytes_,
                                element_count * element_size_bytes_});
    return make_error(KM_ERROR_OUT_OF_BOUNDS,
                      "a view of %s from element %" PRIu64 " on reaches beyond the slice of %s",
                      counted(element_count, "element").c_str(), first_element,
                      counted(element_count_, "element").c_str());
  }
  Ref<Slice> view = make_ref<Slice>(memory_, offset_bytes_ + first_element * element_size_bytes_,
                                    element_count, element_size_bytes_, true);
  if (element_tag() != 0) view->set_element_type(element_type());
  return view;
}

ElementType Slice::element_type() const {
  const std::lock_guard lock(element_name_lock_);
  ElementType type = element_of_tag(element_tag());
  if (type.type == KM_ELEMENT_TYPE_NAMED) type.name = element_name_;
  return type;
}

void Slice::set_element_type(const ElementType& type) {
  std::string name = type.type == KM_ELEMENT_TYPE_NAMED ? type.name : std::string();
  const std::lock_guard lock(element_name_lock_);
  element_name_.swap(name);
  element_tag_.store(tag_of(type), std::memory_order_relaxed);
}

km_slice_info Slice::info() const {
  km_slice_info info{};
  info.struct_size = sizeof info;
  info.is_view = is_view_ ? 1 : 0;
  info.address = address();
  info.element_count = element_count_;
  info.element_size_bytes = element_size_bytes_;
  info.size_bytes = size_bytes();
  return info;
}

Result<void*> Slice::host_pointer() const {
  if (memory_->size_bytes() == 0) return static_cast<void*>(nullptr);
  if (memory_->host_pointer() == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "the host cannot reach memory of device %s; use km_slice_download",
                      context().device().info().uri);
  }
  return static_cast<void*>(static_cast<char*>(memory_->host_pointer()) + offset_bytes_);
}

Status Slice::check_range(uint64_t offset_bytes, uint64_t size_bytes, const char* what) const {
  const uint64_t size = this->size_bytes();
  if (offset_bytes <= size && size_bytes <= size - offset_bytes) return {};
  report_bad_call(context(),
                  {"out-of-bounds",
                   counted(size_bytes, "byte") + " at offset " + std::to_string(offset_bytes) +
                       " of the " + what + " reach beyond its " + counted(size, "byte"),
                   address() + offset_bytes, size_bytes});
  return make_error(KM_ERROR_OUT_OF_BOUNDS,
                    "%s at offset %" PRIu64 " of the %s reach%s beyond its %s",
                    counted(size_bytes, "byte").c_str(), offset_bytes, what,
                    size_bytes == 1 ? "es" : "", counted(size, "byte").c_str());
}

Status Slice::mark_last_use(Stream& stream) {
  KM_TRY(require_same_context(stream.context(), context(), "slice"));
  if (stream.is_capturing()) [[unlikely]]
    return refuse_capture(stream, "freeing memory in the order of");
  if (backend().stream_ticket == nullptr) return stream.drain();
  uint64_t ticket = 0;
  KM_TRY(call_backend(backend().stream_ticket, stream.native(), &ticket));
  memory_->record_use(stream, ticket);
  return {};
}

Result<FoundSlice> find_slice(Context& context, uint64_t address) {
  const FoundMemory found = find_device_memory(context, address);
  Ref<Memory> memory = found ? found.keep() : Ref<Memory>();
  if (!memory) {
    return make_error(KM_ERROR_NOT_FOUND,
                      "address 0x%" PRIx64 " lies in no allocation of this context", address);
  }
  const uint64_t offset = address - memory->address();
  const uint64_t element_size = memory->element_size_bytes();
  const uint64_t count = memory->size_bytes() / element_size;
  return FoundSlice{make_ref<Slice>(std::move(memory), 0, count, element_size, false), offset};
}

}  // namespace km
