#include "core/memory/slice.h"

#include "api/guard.h"
#include "api/output.h"
#include "api/places.h"
#include "core/queue/copy.h"

using namespace km;

namespace {

km_status fill_slice(const char* function, km_stream stream, km_slice slice, uint64_t offset_bytes,
                     uint32_t value, uint32_t value_size_bytes, uint64_t count) noexcept {
  return guard_light(function, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const DevicePlace place,
              fill_place(call, queue->context(), slice, offset_bytes, value_size_bytes, count));
    return fill(*queue, place, value, value_size_bytes, count);
  });
}

}  // namespace

km_status km_slice_create(km_context context, uint64_t element_count, uint64_t element_size_bytes,
                          km_slice_flags flags, km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_slice);
    KM_TRY(check_flags(flags, KM_SLICE_ZEROED | KM_SLICE_MANAGED));
    KM_ASSIGN(Ref<Slice> created,
              Slice::create(*target, nullptr, element_count, element_size_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}

km_status km_slice_create_on_stream(km_stream stream, uint64_t element_count,
                                    uint64_t element_size_bytes, km_slice_flags flags,
                                    km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_REQUIRE(out_slice);
    KM_TRY(check_flags(flags, KM_SLICE_ZEROED));
    KM_ASSIGN(Ref<Slice> created,
              Slice::create(queue->context(), queue, element_count, element_size_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}

km_status km_slice_create_aligned(km_context context, uint64_t element_count,
                                  uint64_t element_size_bytes, uint64_t alignment_bytes,
                                  km_slice_flags flags, km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_slice);
    KM_TRY(check_flags(flags, KM_SLICE_ZEROED));
    KM_ASSIGN(Ref<Slice> created, Slice::create_aligned(*target, element_count, element_size_bytes,
                                                        alignment_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}

km_status km_slice_create_pitched(km_context context, uint64_t row_bytes, uint64_t row_count,
                                  km_slice_flags flags, km_slice* out_slice,
                                  uint64_t* out_pitch_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_slice);
    KM_REQUIRE(out_pitch_bytes);
    KM_TRY(check_flags(flags, KM_SLICE_ZEROED));
    uint64_t pitch_bytes = 0;
    KM_ASSIGN(Ref<Slice> created,
              Slice::create_pitched(*target, row_bytes, row_count, flags, &pitch_bytes));
    KM_TRY(give_handle(std::move(created), out_slice));
    *out_pitch_bytes = pitch_bytes;
    return {};
  });
}

km_status km_slice_from_host(km_context context, void* pointer, uint64_t element_count,
                             uint64_t element_size_bytes, km_release_callback release,
                             void* user_data, km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(pointer);
    KM_REQUIRE(out_slice);
    KM_ASSIGN(Ref<Slice> created,
              Slice::from_host(*target, pointer, element_count, element_size_bytes));
    const Ref<Slice> kept = created;
    KM_TRY(give_handle(std::move(created), out_slice));
    kept->memory().set_release(release, user_data);
    return {};
  });
}

km_status km_slice_view(km_slice slice, uint64_t first_element, uint64_t element_count,
                        km_slice* out_view) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_REQUIRE(out_view);
    KM_ASSIGN(Ref<Slice> created, target->view(first_element, element_count));
    return give_handle(std::move(created), out_view);
  });
}

km_status km_slice_destroy(km_slice slice) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(slice, "slice"); });
}

km_status km_slice_destroy_on_stream(km_slice slice, km_stream stream) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    if (id_of(slice) == 0) return {};
    KM_GET(target, call, slice);
    KM_TRY(target->mark_last_use(*queue));
    return destroy_handle(slice, "slice");
  });
}

km_status km_slice_info_get(km_slice slice, km_slice_info* out_info) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_REQUIRE(out_info);
    return give_struct(target->info(), out_info, "out_info");
  });
}

km_status km_slice_set_element_type(km_slice slice, km_element_type type, uint32_t lanes,
                                    const char* name) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_ASSIGN(const ElementType element, element_type_of(type, lanes, name));
    target->set_element_type(element);
    return {};
  });
}

km_status km_slice_address(km_slice slice, uint64_t* out_address) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_REQUIRE(out_address);
    *out_address = target->address();
    return {};
  });
}

km_status km_slice_host_pointer(km_slice slice, void** out_pointer) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, slice);
    KM_REQUIRE(out_pointer);
    KM_ASSIGN(*out_pointer, target->host_pointer());
    return {};
  });
}

km_status km_slice_upload(km_stream stream, km_slice destination, uint64_t offset_bytes,
                          const void* source, uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const DevicePlace place,
              destination_place(call, queue->context(), destination, offset_bytes, size_bytes));
    return upload(*queue, place, source, size_bytes);
  });
}

km_status km_slice_download(km_stream stream, km_slice source, uint64_t offset_bytes,
                            void* destination, uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const DevicePlace place,
              source_place(call, queue->context(), source, offset_bytes, size_bytes));
    return download(*queue, place, destination, size_bytes);
  });
}

km_status km_slice_copy(km_stream stream, km_slice destination, uint64_t destination_offset_bytes,
                        km_slice source, uint64_t source_offset_bytes,
                        uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const CopyPlaces places,
              copy_places(call, queue->context(), destination, destination_offset_bytes, source,
                          source_offset_bytes, size_bytes));
    return copy(*queue, places.destination, places.source, size_bytes);
  });
}

km_status km_slice_fill_u8(km_stream stream, km_slice slice, uint64_t offset_bytes, uint8_t value,
                           uint64_t count) noexcept {
  return fill_slice(__func__, stream, slice, offset_bytes, value, 1, count);
}

km_status km_slice_fill_u16(km_stream stream, km_slice slice, uint64_t offset_bytes, uint16_t value,
                            uint64_t count) noexcept {
  return fill_slice(__func__, stream, slice, offset_bytes, value, 2, count);
}

km_status km_slice_fill_u32(km_stream stream, km_slice slice, uint64_t offset_bytes, uint32_t value,
                            uint64_t count) noexcept {
  return fill_slice(__func__, stream, slice, offset_bytes, value, 4, count);
}

km_status km_slice_upload_3d(km_stream stream, km_slice destination, const void* source,
                             const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const RowsPlace rows, destination_rows(call, queue->context(), destination, copy));
    return upload_3d(*queue, rows.place, source, rows.shape);
  });
}

km_status km_slice_download_3d(km_stream stream, km_slice source, void* destination,
                               const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const RowsPlace rows, source_rows(call, queue->context(), source, copy));
    return download_3d(*queue, rows.place, destination, rows.shape);
  });
}

km_status km_slice_copy_3d(km_stream stream, km_slice destination, km_slice source,
                           const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const RowsPlaces rows,
              rows_places(call, queue->context(), destination, source, copy));
    return copy_3d(*queue, rows.destination, rows.source, rows.shape);
  });
}

km_status km_slice_fill_2d(km_stream stream, km_slice slice, uint64_t offset_bytes,
                           uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                           uint64_t width_count, uint64_t height) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FillRows rows,
              fill_rows(call, queue->context(), slice, offset_bytes,
                        Fill2d::make(pitch_bytes, value, value_size_bytes, width_count, height)));
    return fill_2d(*queue, rows.place, rows.shape);
  });
}

km_status km_slice_copy_peer(km_stream stream, km_slice destination,
                             uint64_t destination_offset_bytes, km_slice source,
                             uint64_t source_offset_bytes, uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const CopyPlaces places, peer_places(call, destination, destination_offset_bytes,
                                                   source, source_offset_bytes, size_bytes));
    return copy_peer(*queue, places.destination, places.source, size_bytes);
  });
}

km_status km_slice_map_file(km_context context, const char* path, uint64_t offset_bytes,
                            uint64_t element_count, uint64_t element_size_bytes, km_map_flags flags,
                            km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(path);
    KM_REQUIRE(out_slice);
    KM_TRY(check_flags(flags, KM_MAP_PRIVATE));
    KM_ASSIGN(Ref<Slice> created, Slice::map_file(*target, path, offset_bytes, element_count,
                                                  element_size_bytes, flags));
    return give_handle(std::move(created), out_slice);
  });
}
