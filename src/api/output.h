// How results reach the caller: only at the very end of a call that succeeded.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "api/call.h"

namespace km {

/// A new handle for an object that has one reference to give away.
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

/// Ends a handle. Null is fine; what is not live is an error without effect.
template <class Handle>
Status destroy_handle(Handle handle, const char* parameter) {
  constexpr ObjectType kType = HandleTraits<Handle>::kType;
  const uint64_t id = id_of(handle);
  if (id == 0 || handle_table(kType).destroy(id)) return {};
  return Call::not_live(kType, id, parameter);
}

/// Demands that there is room for struct_size at least.
Status require_struct_size(uint32_t struct_size, const char* parameter);

/// Fills a caller's structure as far as its struct_size says that it goes.
template <class Struct>
Status give_struct(const Struct& value, Struct* out_struct, const char* parameter) {
  constexpr size_t kHead = sizeof value.struct_size;
  const size_t size = out_struct->struct_size;
  KM_TRY(require_struct_size(out_struct->struct_size, parameter));
  std::memcpy(reinterpret_cast<char*>(out_struct) + kHead,
              reinterpret_cast<const char*>(&value) + kHead, std::min(size, sizeof value) - kHead);
  return {};
}

/// Copies as many as there is room for into an array, whose structures all have the size that the
/// first one says. `info_of(value)` is the structure for a value.
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

/// An array that is null may only be asked for its count.
Status require_room(const void* pointer, uint64_t capacity, const char* parameter);

/// Copies a text out. A null buffer with capacity 0 asks for the size only, which counts the
/// closing zero; out_size may be null when there is a buffer.
Status give_text(std::string_view text, char* buffer, uint64_t capacity_bytes,
                 uint64_t* out_size_bytes);

/// The bytes of `flags` must all be among `known`.
Status check_flags(uint32_t flags, uint32_t known);

/// A text argument with a size, which may count the closing zero; size 0 is up to that zero. Null
/// with size 0 is an empty text.
Result<std::string_view> take_text(const char* text, uint64_t size_bytes, const char* parameter);

}  // namespace km
