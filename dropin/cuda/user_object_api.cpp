// User objects, and the references of graphs to them.
#include <algorithm>
#include <climits>

#include "dropin/cuda/graph.h"

namespace km::dropin {

void UserObject::release(uint64_t count) {
  if (count_.fetch_sub(count) != count) return;
  const Ref<UserObject> kept = Ref<UserObject>::share(*this);
  retire<UserObject>(handle_of(*this));
  destroy_(pointer_);
}

UserReference UserReference::adopt(UserObject& object) {
  object.ref();
  return {std::shared_ptr<UserObject>(&object, [](UserObject* last) {
    last->release(1);
    last->unref();
  })};
}

void Graph::keep(UserReference reference) {
  const std::lock_guard lock(mutex_);
  references_.push_back(std::move(reference));
}

std::vector<UserReference> Graph::references() {
  const std::lock_guard lock(mutex_);
  return references_;
}

void Graph::keep_all_of(Graph& other) {
  const std::vector<UserReference> all = other.references();
  const std::lock_guard lock(mutex_);
  references_.insert(references_.end(), all.begin(), all.end());
}

bool Graph::drop(const UserObject& object, unsigned count) {
  std::vector<UserReference> last;  // gone after the lock
  const std::lock_guard lock(mutex_);
  const auto is_other = [&](const UserReference& each) { return each.object.get() != &object; };
  const auto first = std::stable_partition(references_.begin(), references_.end(), is_other);
  if (references_.end() - first < static_cast<ptrdiff_t>(count)) return false;
  last.assign(references_.end() - count, references_.end());
  references_.resize(references_.size() - count);
  return true;
}

}  // namespace km::dropin

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_count(unsigned count) {
  if (count != 0 && count <= INT_MAX) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "count is %u", count);
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
    if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is no live handle");
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
      if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is no live handle");
      CU_TRY(check_count(count));
      kept = Ref<UserObject>::share(*object);
    }
    kept->release(count);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                                 unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, graph_handle);
    const Pin<UserObject> object(handle);
    if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is no live handle");
    CU_TRY(check_count(count));
    if ((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    }
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) object->retain(count);
    for (unsigned i = 0; i < count; ++i) graph->keep(UserReference::adopt(*object));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  return guard(__func__, [&]() -> CUresult {
    CU_GET(Graph, graph, graph_handle);
    Ref<UserObject> kept;
    {
      const Pin<UserObject> object(handle);
      if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is no live handle");
      kept = Ref<UserObject>::share(*object);
    }
    CU_TRY(check_count(count));
    if (!graph->drop(*kept, count)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph has less than %u references to the object",
                  count);
    }
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
