// Returns results to the caller, only at the end of a call that succeeded.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "api/call.h"

namespace km {

/// Makes a handle for an object and transfers one reference to it.
template <class Handle>
Status give_handle(Ref<typename HandleTraits<Handle>::Target> object, Handle* out_handle) {
  constexpr ObjectType kType = HandleTraits<Handle>::kType;
  const uint64_t id = handle_table(kType).insert(object.get());
  if (id == 0) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "there are too many live objects of type %s",
                      handle_type_name(kType));
  }
  if constexpr (std::is_same_v<Handle, km_context>) object->handle_given();
  static_cast<void>(object.release());
  *out_handle = handle_of<Handle>(id);
  return {};
}

/// Destroys a handle. Null is fine; a value that is not a live handle is an error without effect.
template <class Handle>
Status destroy_handle(Handle handle, const char* parameter) {
  constexpr ObjectType kType = HandleTraits<Handle>::kType;
  const uint64_t id = id_of(handle);
  if (id == 0 || handle_table(kType).destroy(id)) return {};
  return Call::not_live(kType, id, parameter);
}

/// Requires that the structure is large enough for struct_size itself.
Status require_struct_size(uint32_t struct_size, const char* parameter);

/// Fills a caller's structure up to its struct_size.
template <class Struct>
Status give_struct(const Struct& value, Struct* out_struct, const char* parameter) {
  constexpr size_t kHead = sizeof value.struct_size;
  const size_t size = out_struct->struct_size;
  KM_TRY(require_struct_size(out_struct->struct_size, parameter));
  std::memcpy(reinterpret_cast<char*>(out_struct) + kHead,
              reinterpret_cast<const char*>(&value) + kHead, std::min(size, sizeof value) - kHead);
  return {};
}

/// Copies up to `capacity` elements into an array, whose structures all have the struct_size of the
/// first. `info_of(value)` makes the structure for a value.
template <class Values, class Struct, class InfoOf>
Status give_structs(const Values& values, uint64_t capacity, Struct* out_structs,
                    const char* parameter, InfoOf&& info_of) {
  if (capacity == 0) return {};
  const uint32_t stride = out_structs->struct_size;
  KM_TRY(require_struct_size(stride, parameter));
  char* place = reinterpret_cast<char*>(out_structs);
  for (size_t i = 0; i < std::min<uint64_t>(capacity, values.size()); ++i, place += stride) {
    auto* to = reinterpret_cast<Struct*>(place);
    to->struct_size = stride;
    KM_TRY(give_struct(info_of(values[i]), to, parameter));
  }
  return {};
}

/// Requires that an array is not null unless its capacity is 0, which asks for the count.
Status require_room(const void* pointer, uint64_t capacity, const char* parameter);

/// Copies a text out. A null buffer with capacity 0 asks for the size only, including the closing
/// zero; out_size may be null if there is a buffer.
Status give_text(std::string_view text, char* buffer, uint64_t capacity_bytes,
                 uint64_t* out_size_bytes);

/// Requires that all bits of `flags` are among `known`.
Status check_flags(uint32_t flags, uint32_t known);

/// A text argument with its size, which may include the closing zero; size 0 means up to that zero.
/// Null with size 0 is an empty text.
Result<std::string_view> take_text(const char* text, uint64_t size_bytes, const char* parameter);

}  // namespace km
