#include "dropin/curand/generator/capture.h"

#include <mutex>
#include <utility>

#include "dropin/curand/generator/generator.h"

namespace km::curand {
namespace {

struct Left {
  library::ContextLife context;
  std::vector<cu::CUdeviceptr> addresses;
};

struct AllLeft {
  std::mutex mutex;  // guards the members below
  std::vector<Left> list;
};

AllLeft& all_left() {
  static AllLeft& made = *new AllLeft;  // never destroyed: graphs may end during exit
  return made;
}

using SharedMemory = std::shared_ptr<LeftMemory>;

/// The destructor of a graph's reference, which may not call the driver: it only lists the memory
/// for free_left_memory().
void drop(void* shared) {
  const std::unique_ptr<SharedMemory> last(static_cast<SharedMemory*>(shared));
}

struct CaptureInfo {
  cu::CUstreamCaptureStatus status = cu::CU_STREAM_CAPTURE_STATUS_NONE;
  cu::cuuint64_t id = 0;
  cu::CUgraph graph = nullptr;
  const cu::CUgraphNode* nodes = nullptr;
  size_t node_count = 0;
};

cu::CUresult ask(const Generator& g, CaptureInfo* out) {
  return g.driver->cuStreamGetCaptureInfo_v2(g.stream, &out->status, &out->id, &out->graph,
                                             &out->nodes, &out->node_count);
}

cu::CUresult keep_in(cu::CUgraph graph, Generator& g) {
  constexpr unsigned kNoSync = 1, kMove = 1;  // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, ..._MOVE
  if (g.left == nullptr) g.left = std::make_shared<LeftMemory>();
  auto shared = std::make_unique<SharedMemory>(g.left);
  cu::CUuserObject object = nullptr;
  cu::CUresult done = g.driver->cuUserObjectCreate(&object, shared.get(), drop, 1, kNoSync);
  if (done != cu::CUDA_SUCCESS) return done;
  static_cast<void>(shared.release());  // drop() owns it
  done = g.driver->cuGraphRetainUserObject(graph, object, 1, kMove);
  if (done != cu::CUDA_SUCCESS) g.driver->cuUserObjectRelease(object, 1);
  return done;
}

}  // namespace

LeftMemory::~LeftMemory() {
  if (addresses.empty()) return;
  AllLeft& left = all_left();
  const std::lock_guard lock(left.mutex);
  left.list.push_back({context, std::move(addresses)});
}

void free_left_memory(const Driver& driver) {
  std::vector<Left> taken;
  {
    AllLeft& left = all_left();
    const std::lock_guard lock(left.mutex);
    taken.swap(left.list);
  }
  if (taken.empty()) return;
  // Freeing waits for work that may still use the memory, which is allowed because none of it is
  // captured.
  const RelaxedCapture relaxed(driver);
  for (const Left& each : taken) {
    if (!each.context.goes_on(driver)) continue;
    // The thread may have another context current, or none.
    if (driver.cuCtxPushCurrent_v2(each.context.context()) != cu::CUDA_SUCCESS) continue;
    for (const cu::CUdeviceptr address : each.addresses) driver.cuMemFree_v2(address);
    cu::CUcontext popped = nullptr;
    driver.cuCtxPopCurrent_v2(&popped);
  }
}

cu::CUresult wait_for_last_captured(const Generator& g) {
  if (g.last_captured.nodes.empty() || g.last_captured.stream == g.stream) return cu::CUDA_SUCCESS;
  CaptureInfo now;
  const cu::CUresult asked = ask(g, &now);
  if (asked != cu::CUDA_SUCCESS || now.id != g.last_captured.capture_id) return asked;
  constexpr unsigned kAdd = 0;  // CU_STREAM_ADD_CAPTURE_DEPENDENCIES
  std::vector<cu::CUgraphNode> nodes = g.last_captured.nodes;
  return g.driver->cuStreamUpdateCaptureDependencies(g.stream, nodes.data(), nodes.size(), kAdd);
}

cu::CUresult note_captured(Generator& g) {
  CaptureInfo now;
  if (const cu::CUresult asked = ask(g, &now); asked != cu::CUDA_SUCCESS) return asked;
  if (now.status != cu::CU_STREAM_CAPTURE_STATUS_ACTIVE) return cu::CUDA_SUCCESS;
  if (now.id != g.last_captured.capture_id) {
    if (const cu::CUresult kept = keep_in(now.graph, g); kept != cu::CUDA_SUCCESS) return kept;
  }
  g.last_captured = {now.id, g.stream, {now.nodes, now.nodes + now.node_count}};
  return cu::CUDA_SUCCESS;
}

}  // namespace km::curand
