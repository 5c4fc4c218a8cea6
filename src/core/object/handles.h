// The handle tables of this process, and the object type of each handle type.
#pragma once

#include "core/object/handle_table.h"
#include "kernelmill/c_api.h"

namespace km {

class Blas;
class Comm;
class Fft;
class Context;
class Device;
class Event;
class Function;
class Graph;
class GraphExec;
class HostMemory;
class Launch;
class Module;
class Pool;
class Program;
class Slice;
class Stream;
class Tune;

namespace detail {
/// Never destroyed, because other threads may still make calls while the process exits.
union HandleTables {
  HandleTable of[kObjectTypeCount];
  ~HandleTables() {}
};
extern HandleTables handle_tables;
}  // namespace detail

/// The table of a handle type.
inline HandleTable& handle_table(ObjectType type) {
  return detail::handle_tables.of[static_cast<size_t>(type)];
}

template <class Handle>
struct HandleTraits;
#define KM_HANDLE_TRAITS(handle, object, object_type)            \
  template <>                                                    \
  struct HandleTraits<handle> {                                  \
    using Target = object;                                       \
    static constexpr ObjectType kType = ObjectType::object_type; \
  }
KM_HANDLE_TRAITS(km_device, Device, kDevice);
KM_HANDLE_TRAITS(km_context, Context, kContext);
KM_HANDLE_TRAITS(km_stream, Stream, kStream);
KM_HANDLE_TRAITS(km_event, Event, kEvent);
KM_HANDLE_TRAITS(km_host_memory, HostMemory, kHostMemory);
KM_HANDLE_TRAITS(km_slice, Slice, kSlice);
KM_HANDLE_TRAITS(km_module, Module, kModule);
KM_HANDLE_TRAITS(km_function, Function, kFunction);
KM_HANDLE_TRAITS(km_launch, Launch, kLaunch);
KM_HANDLE_TRAITS(km_program, Program, kProgram);
KM_HANDLE_TRAITS(km_pool, Pool, kPool);
KM_HANDLE_TRAITS(km_graph, Graph, kGraph);
KM_HANDLE_TRAITS(km_graph_exec, GraphExec, kGraphExec);
KM_HANDLE_TRAITS(km_blas, Blas, kBlas);
KM_HANDLE_TRAITS(km_fft, Fft, kFft);
KM_HANDLE_TRAITS(km_comm, Comm, kComm);
KM_HANDLE_TRAITS(km_tune, Tune, kTune);
#undef KM_HANDLE_TRAITS

template <class Handle>
uint64_t id_of(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
template <class Handle>
Handle handle_of(uint64_t id) {
  return reinterpret_cast<Handle>(id);
}

}  // namespace km
