// Handles of the CUDA driver API. They are ids, not pointers (core/object/handle_table.h), so stale
// handles, garbage and handles of another type are detected and give an error.
#pragma once

#include <utility>

#include "base/assert.h"
#include "core/object/callback.h"
#include "core/object/handle_table.h"
#include "core/object/object.h"
#include "cuda/driver.h"

namespace km::dropin {

class Context;
class Event;
class Function;
class Graph;
class GraphExec;
class GraphNode;
class GreenContext;
class Kernel;
class Library;
class LinkState;
class MemoryHandle;
class Module;
class Pool;
class ResourceSet;
class Stream;
class UserObject;

/// A static table that is never destroyed, because other threads may still make calls during exit.
union Table {
  constexpr Table(int type, HandleTable::ReleaseObject release)
      : table(static_cast<ObjectType>(type), release) {}
  ~Table() {}
  HandleTable table;
};

/// Maps an object type to its handle table.
template <class T>
HandleTable& table_of();

template <class T>
struct HandleOf;
#define KM_DROPIN_HANDLE(object, handle)   \
  template <>                              \
  struct HandleOf<object> {                \
    using Type = cu::handle;               \
  };                                       \
  extern Table table_of_##object;          \
  template <>                              \
  inline HandleTable& table_of<object>() { \
    return table_of_##object.table;        \
  }                                        \
  static_assert(true)
KM_DROPIN_HANDLE(Context, CUcontext);
KM_DROPIN_HANDLE(Event, CUevent);
KM_DROPIN_HANDLE(Function, CUfunction);
KM_DROPIN_HANDLE(Graph, CUgraph);
KM_DROPIN_HANDLE(GraphExec, CUgraphExec);
KM_DROPIN_HANDLE(GraphNode, CUgraphNode);
KM_DROPIN_HANDLE(GreenContext, CUgreenCtx);
KM_DROPIN_HANDLE(Kernel, CUkernel);
KM_DROPIN_HANDLE(Library, CUlibrary);
KM_DROPIN_HANDLE(LinkState, CUlinkState);
KM_DROPIN_HANDLE(MemoryHandle, CUmemGenericAllocationHandle);
KM_DROPIN_HANDLE(Module, CUmodule);
KM_DROPIN_HANDLE(Pool, CUmemoryPool);
KM_DROPIN_HANDLE(ResourceSet, CUdevResourceDesc);
KM_DROPIN_HANDLE(Stream, CUstream);
KM_DROPIN_HANDLE(UserObject, CUuserObject);
#undef KM_DROPIN_HANDLE

/// Base of every object that has a handle; it knows its own handle.
class Handled : public Object {
 public:
  uint64_t id() const { return id_; }
  void set_id(uint64_t id) { id_ = id; }

 private:
  uint64_t id_ = 0;
};

template <class T>
using Handle = typename HandleOf<T>::Type;

template <class T>
Handle<T> handle_of(const T& object) {
  return (Handle<T>)object.id();  // NOLINT: some handles are integers
}

/// Creates a handle, which takes over the reference to the object. Throws std::bad_alloc.
template <class T>
Handle<T> publish(Ref<T> object) {
  const uint64_t id = table_of<T>().insert(object.get());
  if (id == 0) throw std::bad_alloc();
  T* const published = object.release();
  KM_ASSERT(published->id() != id, "each publication has a handle of its own");
  published->set_id(id);
  return handle_of(*published);
}

/// The result that CUDA documents for an invalid handle of the type. Invalid graphs and pools are
/// invalid values.
template <class T>
inline constexpr cu::CUresult kNoHandle = cu::CUDA_ERROR_INVALID_HANDLE;
template <>
inline constexpr cu::CUresult kNoHandle<Graph> = cu::CUDA_ERROR_INVALID_VALUE;
template <>
inline constexpr cu::CUresult kNoHandle<GraphExec> = cu::CUDA_ERROR_INVALID_VALUE;
template <>
inline constexpr cu::CUresult kNoHandle<GreenContext> = cu::CUDA_ERROR_INVALID_CONTEXT;
template <>
inline constexpr cu::CUresult kNoHandle<ResourceSet> = cu::CUDA_ERROR_INVALID_VALUE;
template <>
inline constexpr cu::CUresult kNoHandle<Pool> = cu::CUDA_ERROR_INVALID_VALUE;

/// Object types with `kEndWaits`, whose destruction waits for the work that uses the object.
template <class T>
concept EndWaits = requires { T::kEndWaits; };

/// Ends the handle; returns false if it is not valid.
template <class T>
bool retire(const MayBlock&, Handle<T> handle) {
  return table_of<T>().destroy((uint64_t)handle);  // NOLINT
}
template <class T>
  requires(!EndWaits<T>)
bool retire(Handle<T> handle) {
  return table_of<T>().destroy((uint64_t)handle);  // NOLINT
}

/// Pins a handle's object, which stays alive while the Pin lives. Null if the handle is invalid.
template <class T>
class Pin {
 public:
  Pin() = default;
  explicit Pin(Handle<T> handle) : slot_(table_of<T>().pin((uint64_t)handle)) {}  // NOLINT
  Pin(Pin&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  Pin& operator=(Pin&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Pin() {
    if (slot_ != nullptr) HandleTable::unpin(slot_);
  }
  explicit operator bool() const { return slot_ != nullptr; }
  T* get() const { return static_cast<T*>(HandleTable::object_of(slot_)); }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }

 private:
  HandleSlot* slot_ = nullptr;
};

}  // namespace km::dropin

/// Declares `variable`, the pinned object of `handle`, or returns the type's result for an invalid
/// handle.
#define CU_GET(type, variable, handle)                                   \
  const ::km::dropin::Pin<::km::dropin::type> variable(handle);          \
  if (!(variable))                                                       \
  return ::km::dropin::fail(::km::dropin::kNoHandle<::km::dropin::type>, \
                            "%s is not a live handle", #handle)
