// The memory ranges that calls name by slices, with the checks that streams' calls and graphs'
// nodes share. The call pins the slices.
#pragma once

#include "api/guard.h"
#include "core/memory/slice.h"
#include "core/queue/copy_3d.h"

namespace km {

/// Both sides of a copy.
struct CopyPlaces {
  DevicePlace destination, source;
};

inline Result<DevicePlace> destination_place(Call& call, Context& context, km_slice destination,
                                             uint64_t offset_bytes, uint64_t size_bytes) {
  KM_GET(to, call, destination);
  return place_in_slice(context, *to, offset_bytes, size_bytes, "destination");
}

inline Result<DevicePlace> source_place(Call& call, Context& context, km_slice source,
                                        uint64_t offset_bytes, uint64_t size_bytes) {
  KM_GET(from, call, source);
  return place_in_slice(context, *from, offset_bytes, size_bytes, "source");
}

inline Result<CopyPlaces> copy_places(Call& call, Context& context, km_slice destination,
                                      uint64_t destination_offset_bytes, km_slice source,
                                      uint64_t source_offset_bytes, uint64_t size_bytes) {
  KM_GET(to, call, destination);
  KM_GET(from, call, source);
  KM_ASSIGN(const DevicePlace to_place,
            place_in_slice(context, *to, destination_offset_bytes, size_bytes, "destination"));
  KM_ASSIGN(const DevicePlace from_place,
            place_in_slice(context, *from, source_offset_bytes, size_bytes, "source"));
  return CopyPlaces{to_place, from_place};
}

/// Both sides of a copy between contexts.
inline Result<CopyPlaces> peer_places(Call& call, km_slice destination,
                                      uint64_t destination_offset_bytes, km_slice source,
                                      uint64_t source_offset_bytes, uint64_t size_bytes) {
  KM_GET(to, call, destination);
  KM_GET(from, call, source);
  KM_TRY(to->check_range(destination_offset_bytes, size_bytes, "destination"));
  KM_TRY(from->check_range(source_offset_bytes, size_bytes, "source"));
  return CopyPlaces{{&to->memory(), to->address() + destination_offset_bytes},
                    {&from->memory(), from->address() + source_offset_bytes}};
}

/// The range of a fill.
inline Result<DevicePlace> fill_place(Call& call, Context& context, km_slice slice,
                                      uint64_t offset_bytes, uint32_t value_size_bytes,
                                      uint64_t count) {
  KM_GET(target, call, slice);
  KM_ASSIGN(const uint64_t size_bytes, fill_size(count, value_size_bytes));
  return place_in_slice(context, *target, offset_bytes, size_bytes, "slice");
}

/// A copy of rows and its device side.
struct RowsPlace {
  Copy3d shape;
  DevicePlace place;
};

inline Result<RowsPlace> destination_rows(Call& call, Context& context, km_slice destination,
                                          const km_copy_3d* copy) {
  KM_GET(to, call, destination);
  KM_REQUIRE(copy);
  KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
  KM_ASSIGN(const DevicePlace place,
            place_rows_in_slice(context, *to, shape.destination, "destination"));
  return RowsPlace{shape, place};
}

inline Result<RowsPlace> source_rows(Call& call, Context& context, km_slice source,
                                     const km_copy_3d* copy) {
  KM_GET(from, call, source);
  KM_REQUIRE(copy);
  KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
  KM_ASSIGN(const DevicePlace place, place_rows_in_slice(context, *from, shape.source, "source"));
  return RowsPlace{shape, place};
}

/// A copy of rows within the device.
struct RowsPlaces {
  Copy3d shape;
  DevicePlace destination, source;
};

inline Result<RowsPlaces> rows_places(Call& call, Context& context, km_slice destination,
                                      km_slice source, const km_copy_3d* copy) {
  KM_GET(to, call, destination);
  KM_GET(from, call, source);
  KM_REQUIRE(copy);
  KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
  KM_ASSIGN(const DevicePlace to_place,
            place_rows_in_slice(context, *to, shape.destination, "destination"));
  KM_ASSIGN(const DevicePlace from_place,
            place_rows_in_slice(context, *from, shape.source, "source"));
  return RowsPlaces{shape, to_place, from_place};
}

/// The rows of a fill.
struct FillRows {
  Fill2d shape;
  DevicePlace place;
};

inline Result<FillRows> fill_rows(Call& call, Context& context, km_slice slice,
                                  uint64_t offset_bytes, const Result<Fill2d>& shape) {
  KM_GET(target, call, slice);
  if (!shape) return shape.error();
  KM_ASSIGN(const DevicePlace place,
            place_in_slice(context, *target, offset_bytes, shape->extent_bytes, "slice"));
  return FillRows{*shape, place};
}

}  // namespace km
