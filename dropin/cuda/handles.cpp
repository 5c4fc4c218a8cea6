#include "dropin/cuda/handles.h"

namespace km::dropin {
namespace {

void release(Object* object) { object->handle_gone(); }

/// Never destroyed: other threads may still make calls while the process exits.
union Table {
  HandleTable table;
  explicit Table(ObjectType type) : table(type, release) {}
  ~Table() {}
};

}  // namespace

#define KM_DROPIN_TABLE(object, type)                     \
  template <>                                             \
  HandleTable& table_of<object>() {                       \
    static Table instance(static_cast<ObjectType>(type)); \
    return instance.table;                                \
  }
// Numbers beyond the core's own types, so that its handles are none of these.
KM_DROPIN_TABLE(Context, 16)
KM_DROPIN_TABLE(Event, 17)
KM_DROPIN_TABLE(Function, 18)
KM_DROPIN_TABLE(Graph, 19)
KM_DROPIN_TABLE(GraphExec, 20)
KM_DROPIN_TABLE(GraphNode, 21)
KM_DROPIN_TABLE(Kernel, 22)
KM_DROPIN_TABLE(Library, 23)
KM_DROPIN_TABLE(LinkState, 24)
KM_DROPIN_TABLE(MemoryHandle, 25)
KM_DROPIN_TABLE(Module, 26)
KM_DROPIN_TABLE(Pool, 27)
KM_DROPIN_TABLE(Stream, 28)
KM_DROPIN_TABLE(UserObject, 29)

}  // namespace km::dropin
