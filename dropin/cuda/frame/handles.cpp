#include "dropin/cuda/frame/handles.h"

namespace km::dropin {
namespace {

void release(Object* object) { object->handle_gone(); }

}  // namespace

#define KM_DROPIN_TABLE(object, type) constinit Table table_of_##object(type, release);
// Type numbers above the core's own, so that no handle of the driver is a valid handle of the core.
// Tags from 0x50 on leave the top bit clear: programs that hold handles in signed integers (Python
// with Cython) would take a negative value for an error.
KM_DROPIN_TABLE(Context, 0xB0)
KM_DROPIN_TABLE(Event, 0xB1)
KM_DROPIN_TABLE(Function, 0xB2)
KM_DROPIN_TABLE(Graph, 0xB3)
KM_DROPIN_TABLE(GraphExec, 0xB4)
KM_DROPIN_TABLE(GraphNode, 0xB5)
KM_DROPIN_TABLE(Kernel, 0xB6)
KM_DROPIN_TABLE(Library, 0xB7)
KM_DROPIN_TABLE(LinkState, 0xB8)
KM_DROPIN_TABLE(MemoryHandle, 0xB9)
KM_DROPIN_TABLE(Module, 0xBA)
KM_DROPIN_TABLE(Pool, 0xBB)
KM_DROPIN_TABLE(Stream, 0xBC)
KM_DROPIN_TABLE(UserObject, 0xBD)
KM_DROPIN_TABLE(GreenContext, 0xBE)
KM_DROPIN_TABLE(ResourceSet, 0xBF)

}  // namespace km::dropin
