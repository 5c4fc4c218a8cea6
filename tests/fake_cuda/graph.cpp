// Graphs, which run their nodes one after the other.
#include <cstring>

#include "fake_cuda/queue.h"

namespace km::cu {
namespace {

struct Step {
  std::function<CUresult(Context&)> run;
  CUhostFn function = nullptr;  // of a host node
  void* user_data = nullptr;
  bool is_mark = false;
  std::vector<Step> children = {};  // of a graph within the graph
  bool is_line = true;              // a copy or fill of one dimension
};

struct Graph {
  std::vector<std::shared_ptr<Step>> steps;
};

struct Exec {
  std::map<CUgraphNode, Step> steps;
  std::vector<CUgraphNode> order;
};

CUgraphNode handle_of(const std::shared_ptr<Step>& step) {
  return reinterpret_cast<CUgraphNode>(step.get());
}

CUresult add_step(CUgraph handle, Step step, CUgraphNode* out) {
  Object* object = find_object("graph", handle);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto& graph = *static_cast<Graph*>(object->data.get());
  graph.steps.push_back(std::make_shared<Step>(std::move(step)));
  *out = handle_of(graph.steps.back());
  return CUDA_SUCCESS;
}

CUresult set_step(CUgraphExec handle, CUgraphNode node, Step step) {
  Object* object = find_object("executable graph", handle);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto& exec = *static_cast<Exec*>(object->data.get());
  const auto found = exec.steps.find(node);
  if (found == exec.steps.end()) return misuse(CUDA_ERROR_INVALID_VALUE, "a node");
  if (!found->second.is_line || !step.is_line) return CUDA_ERROR_INVALID_VALUE;
  found->second = std::move(step);
  return CUDA_SUCCESS;
}

CUresult kernel_step(const CUDA_KERNEL_NODE_PARAMS_v1* params, Step* out) {
  Launch launch;
  if (const CUresult bad = read_launch(params->func, params->extra, &launch)) return bad;
  const Work work = work_of(launch);
  out->run = work.run;
  out->is_mark = work.is_mark;
  return CUDA_SUCCESS;
}

Step copy_step(const CUDA_MEMCPY3D* params) {
  return {.run = [copy = *params](Context&) { return copy_rows(copy); },
          .is_line = params->Height == 1 && params->Depth == 1 && params->WidthInBytes != 0};
}

CUresult fill_rows(const CUDA_MEMSET_NODE_PARAMS& fill) {
  for (size_t y = 0; y < fill.height; ++y) {
    const uint64_t row = fill.dst + y * fill.pitch;
    if (const CUresult bad = check_device_range(row, fill.width * fill.elementSize)) return bad;
    for (size_t x = 0; x < fill.width; ++x) {
      std::memcpy(reinterpret_cast<char*>(row) + x * fill.elementSize, &fill.value,
                  fill.elementSize);
    }
  }
  return CUDA_SUCCESS;
}

Step fill_step(const CUDA_MEMSET_NODE_PARAMS* params) {
  return {.run = [fill = *params](Context&) { return fill_rows(fill); },
          .is_line = params->height == 1 && params->width != 0};
}

CUresult child_step(CUgraph handle, Step* out) {
  Object* object = find_object("graph", handle);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& step : static_cast<Graph*>(object->data.get())->steps) {
    out->children.push_back(*step);
  }
  return CUDA_SUCCESS;
}

void add_work(const Step& step, std::vector<Work>* out) {
  for (const Step& child : step.children) add_work(child, out);
  if (!step.run && step.function == nullptr) return;
  out->push_back({.run = step.run,
                  .is_mark = step.is_mark,
                  .function = step.function,
                  .user_data = step.user_data});
}

CUresult check_ops(const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return check_memory_ops({params->paramArray, params->paramArray + params->count});
}

Step ops_step(const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  const std::vector<CUstreamBatchMemOpParams> ops(params->paramArray,
                                                  params->paramArray + params->count);
  return {.run = [ops](Context&) -> CUresult {
            do_memory_ops(ops);
            return CUDA_SUCCESS;
          },
          .is_mark = true};
}

Step host_step(const CUDA_HOST_NODE_PARAMS* params) {
  return {.run = nullptr, .function = params->fn, .user_data = params->userData};
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* out, unsigned int) {
  KM_FAKE_CALL(context);
  *out =
      static_cast<CUgraph>(add_object("graph", call.context().device, std::make_shared<Graph>()));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("graph", graph) ? call.result() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  KM_FAKE_CALL(context);
  Step step;
  if (const CUresult bad = kernel_step(params, &step)) return bad;
  return add_step(graph, std::move(step), out);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, CUkernelNodeAttrID,
                                       const CUkernelNodeAttrValue*) {
  KM_FAKE_CALL(context);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMCPY3D* params, CUcontext) {
  KM_FAKE_CALL(context);
  return add_step(graph, copy_step(params), out);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  KM_FAKE_CALL(context);
  return add_step(graph, fill_step(params), out);
}

CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                            const CUDA_HOST_NODE_PARAMS* params) {
  KM_FAKE_CALL(context);
  return add_step(graph, host_step(params), out);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t) {
  KM_FAKE_CALL(context);
  return add_step(graph, {.run = [](Context&) -> CUresult { return CUDA_SUCCESS; }}, out);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  KM_FAKE_CALL(context);
  if (const CUresult bad = check_ops(params)) return bad;
  return add_step(graph, ops_step(params), out);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  KM_FAKE_CALL(context);
  if (const CUresult bad = check_ops(params)) return bad;
  return set_step(exec, node, ops_step(params));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode*, size_t,
                                  CUgraph child) {
  KM_FAKE_CALL(context);
  Step step;
  if (const CUresult bad = child_step(child, &step)) return bad;
  return add_step(graph, std::move(step), out);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  queue->begin_capture();
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* out) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  *out = queue->is_capturing() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* out) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  if (!queue->is_capturing()) return misuse(CUDA_ERROR_ILLEGAL_STATE, "no capture");
  auto graph = std::make_shared<Graph>();
  for (Work& work : queue->end_capture()) {
    graph->steps.push_back(std::make_shared<Step>(
        Step{std::move(work.run), work.function, work.user_data, work.is_mark, {}, true}));
  }
  *out = static_cast<CUgraph>(add_object("graph", call.context().device, graph));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph handle, unsigned long long) {
  KM_FAKE_CALL(context);
  Object* object = find_object("graph", handle);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto exec = std::make_shared<Exec>();
  for (const auto& step : static_cast<Graph*>(object->data.get())->steps) {
    exec->steps.emplace(handle_of(step), *step);
    exec->order.push_back(handle_of(step));
  }
  *out = static_cast<CUgraphExec>(add_object("executable graph", call.context().device, exec));
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  const Call call(__func__, Call::Needs::context);
  return remove_object("executable graph", exec) ? call.result() : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  KM_FAKE_CALL(context);
  Step step;
  if (const CUresult bad = kernel_step(params, &step)) return bad;
  return set_step(exec, node, std::move(step));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* params, CUcontext) {
  KM_FAKE_CALL(context);
  return set_step(exec, node, copy_step(params));
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  KM_FAKE_CALL(context);
  return set_step(exec, node, fill_step(params));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* params) {
  KM_FAKE_CALL(context);
  return set_step(exec, node, host_step(params));
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  KM_FAKE_CALL(context);
  Step step;
  if (const CUresult bad = child_step(child, &step)) return bad;
  return set_step(exec, node, std::move(step));
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  KM_FAKE_CALL(context);
  KM_FAKE_QUEUE(stream);
  Object* object = find_object("executable graph", handle);
  if (object == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto& exec = *static_cast<Exec*>(object->data.get());
  std::vector<Work> all;
  for (CUgraphNode node : exec.order) {
    add_work(exec.steps.at(node), &all);
  }
  Context& context = call.context();
  call.unlock();
  for (Work& work : all) {
    const CUresult result = queue->submit(std::move(work));
    const std::lock_guard lock(state_mutex());
    if (result != CUDA_SUCCESS) set_sticky(context, CUDA_ERROR_ILLEGAL_ADDRESS);
  }
  return CUDA_SUCCESS;
}
}

}  // namespace km::cu
