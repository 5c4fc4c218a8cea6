// User objects, and the references of graphs to them.
#include <climits>

#include "dropin/cuda/graph/graph.h"

namespace km::dropin {

bool UserObject::release(uint64_t count) {
  uint64_t before = count_.load();
  do {
    if (before < count) return false;
  } while (!count_.compare_exchange_weak(before, before - count));
  if (before != count) return true;
  const Ref<UserObject> kept = Ref<UserObject>::share(*this);
  retire<UserObject>(handle_of(*this));
  call_contained([this] { destroy_(pointer_); });
  return true;
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : counts_) {
    object->release(count);
    object->unref();
  }
}

void UserReferences::add(UserObject& object, uint64_t count) {
  const auto [known, is_new] = counts_.try_emplace(&object, 0);
  if (is_new) object.ref();
  known->second += count;
}

void UserReferences::add_all_of(const UserReferences& other) {
  for (const auto& [object, count] : other.counts_) {
    add(*object, count);
    object->retain(count);
  }
}

bool UserReferences::take(UserObject& object, uint64_t count) {
  const auto known = counts_.find(&object);
  if (known == counts_.end() || known->second < count) return false;
  known->second -= count;
  if (known->second != 0) return true;
  counts_.erase(known);
  object.unref();  // the caller has another
  return true;
}

void Graph::keep(UserObject& object, uint64_t count) {
  const std::lock_guard lock(mutex_);
  references_.add(object, count);
}

UserReferences Graph::references() {
  const std::lock_guard lock(mutex_);
  return references_;
}

void Graph::keep_all(const UserReferences& references) {
  const std::lock_guard lock(mutex_);
  references_.add_all_of(references);
}

bool Graph::take(UserObject& object, uint64_t count) {
  const std::lock_guard lock(mutex_);
  return references_.take(object, count);
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
    if (kept->release(count)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE, "the object has less than %u references", count);
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
      if (!object) return fail(CUDA_ERROR_INVALID_VALUE, "the object is no live handle");
      kept = Ref<UserObject>::share(*object);
    }
    CU_TRY(check_count(count));
    if (!graph->take(*kept, count)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the graph has less than %u references to the object",
                  count);
    }
    kept->release(count);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
