// User objects, and graphs' references to them.
#include <climits>

#include "dropin/cuda/graph/graph.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_count(unsigned count) {
  if (count != 0 && count <= INT_MAX) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "count is %u", count);
}

CUresult fail_count(unsigned count) {
  return fail(CUDA_ERROR_INVALID_VALUE,
              "the program has less than %u references to the object; those of graphs are not its "
              "own",
              count);
}

}  // namespace

extern "C" {

CUresult cuUserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    if (destroy == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "destroy is null");
    CU_TRY(check_count(count));
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "flags is %u; it must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC", flags);
    }
    *out = publish(make_ref<UserObject>(pointer, destroy, count));
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned int count) {
  return guard(__func__, [&]() -> CUresult {
    const Pin<UserObject> object(handle);
    if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is not a live handle");
    CU_TRY(check_count(count));
    object->retain(count);
    return CUDA_SUCCESS;
  });
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned int count) {
  return guard(__func__, [&]() -> CUresult {
    Ref<UserObject> kept;
    {
      const Pin<UserObject> object(handle);
      if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is not a live handle");
      CU_TRY(check_count(count));
      kept = Ref<UserObject>::share(*object);
    }
    if (kept->release(count)) return CUDA_SUCCESS;
    return fail_count(count);
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                                 unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, graph_handle);
    const Pin<UserObject> object(handle);
    if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is not a live handle");
    CU_TRY(check_count(count));
    if ((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    }
    const bool moves = (flags & CU_GRAPH_USER_OBJECT_MOVE) != 0;
    if (!moves) object->retain_for_graph(count);
    if (moves && !object->move_to_graph(count)) return fail_count(count);
    graph->keep(*object, count);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, graph_handle);
    Ref<UserObject> kept;
    {
      const Pin<UserObject> object(handle);
      if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is not a live handle");
      kept = Ref<UserObject>::share(*object);
    }
    CU_TRY(check_count(count));
    if (!graph->take(*kept, count)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph has less than %u references to the object",
                  count);
    }
    kept->release_of_graph(count);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
