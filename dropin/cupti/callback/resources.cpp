#include "dropin/cupti/callback/resources.h"

#include <string_view>
#include <vector>

#include "base/process/dylib.h"

namespace km::cupti {
namespace {

/// CUpti_ResourceData.
struct ResourceData {
  cu::CUcontext context;
  cu::CUstream stream;
  const void* descriptor;
};
/// CUpti_GraphData.
struct GraphData {
  cu::CUgraph graph, original;
  cu::CUgraphNode node, original_node;
  int32_t node_type;
  cu::CUgraphNode dependency;
  cu::CUgraphExec exec;
};
static_assert(sizeof(GraphData) == 56);

/// The driver's functions that look into graphs.
struct GraphFunctions {
  decltype(&cu::cuGraphGetNodes) nodes = nullptr;
  decltype(&cu::cuGraphNodeFindInClone) find = nullptr;
  decltype(&cu::cuGraphNodeGetType) type = nullptr;
};

const GraphFunctions& graph_functions() {
  static const GraphFunctions found = [] {
    GraphFunctions functions;
    const Result<Dylib> library = Dylib::open("libcuda.so.1");
    if (!library) return functions;
    functions.nodes = library->function<decltype(functions.nodes)>("cuGraphGetNodes");
    functions.find = library->function<decltype(functions.find)>("cuGraphNodeFindInClone");
    functions.type = library->function<decltype(functions.type)>("cuGraphNodeGetType");
    return functions;
  }();
  return found;
}

void tell(uint32_t number, cu::CUcontext context, cu::CUstream stream, const void* descriptor) {
  const std::shared_ptr<Subscriber> heard = subscriber();
  if (heard == nullptr || !heard->wants(CUPTI_CB_DOMAIN_RESOURCE, number)) return;
  const ResourceData data = {context, stream, descriptor};
  heard->call(CUPTI_CB_DOMAIN_RESOURCE, number, &data);
}

void tell_graph(uint32_t number, const GraphData& data) {
  tell(number, current_context(), nullptr, &data);
}

int32_t type_of(cu::CUgraphNode node) {
  const OwnCalls own;
  cu::CUgraphNodeType type{};
  if (graph_functions().type != nullptr) graph_functions().type(node, &type);
  return type;
}

std::vector<cu::CUgraphNode> nodes_of(cu::CUgraph graph) {
  const OwnCalls own;
  size_t count = 0;
  const auto get = graph_functions().nodes;
  if (get == nullptr || get(graph, nullptr, &count) != cu::CUDA_SUCCESS) return {};
  std::vector<cu::CUgraphNode> nodes(count);
  if (get(graph, nodes.data(), &count) != cu::CUDA_SUCCESS) return {};
  nodes.resize(count);
  return nodes;
}

cu::CUgraphNode clone_of(cu::CUgraphNode node, cu::CUgraph clone) {
  const OwnCalls own;
  cu::CUgraphNode found = nullptr;
  if (graph_functions().find != nullptr) graph_functions().find(&found, node, clone);
  return found;
}

void tell_node(cu::CUgraph graph, cu::CUgraphNode node) {
  GraphData data{};
  data.graph = graph;
  data.node = node;
  data.node_type = type_of(node);
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
}

void tell_graph_made(cu::CUgraph graph) {
  GraphData data{};
  data.graph = graph;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CREATED, data);
  for (const cu::CUgraphNode node : nodes_of(graph)) tell_node(graph, node);
}

void tell_clone(cu::CUgraph clone, cu::CUgraph original) {
  GraphData data{};
  data.graph = clone;
  data.original = original;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CLONED, data);
  for (const cu::CUgraphNode node : nodes_of(original)) {
    data.original_node = node;
    data.node = clone_of(node, clone);
    data.node_type = type_of(node);
    tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
  }
}

/// A primary context is told of once, when it is retained for the first time.
void tell_context(cu::CUcontext made) {
  static std::atomic<uint32_t> last_told{0};
  const uint32_t number = number_of(made);
  if (last_told.exchange(number) == number) return;
  tell(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, made, nullptr, nullptr);
}

/// True for functions that add a node to a graph.
bool adds_node(std::string_view name) {
  return name.starts_with("cuGraphAdd") && name.find("Node") != std::string_view::npos;
}

}  // namespace

cu::CUcontext current_context() {
  const OwnCalls own;
  cu::CUcontext context = nullptr;
  const library::Driver* const driver = library::driver();
  if (driver != nullptr) driver->cuCtxGetCurrent(&context);
  return context;
}

uint32_t number_of(cu::CUcontext context) {
  const library::LibraryTable* const table = library::table_if_loaded();
  if (table == nullptr || context == nullptr) return 0;
  return static_cast<uint32_t>(table->context_number(context));
}

void tell_destruction(const frame::ApiCall& call) {
  const std::string_view name = call.name;
  GraphData data{};
  if (name.starts_with("cuCtxDestroy")) {
    tell(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, parameter<cu::CUcontext>(call), nullptr,
         nullptr);
  } else if (name.starts_with("cuStreamDestroy")) {
    tell(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, current_context(),
         parameter<cu::CUstream>(call), nullptr);
  } else if (name == "cuGraphDestroy") {
    data.graph = parameter<cu::CUgraph>(call);
    tell_graph(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, data);
  } else if (name == "cuGraphDestroyNode") {
    data.node = parameter<cu::CUgraphNode>(call);
    tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, data);
  } else if (name == "cuGraphExecDestroy") {
    data.exec = parameter<cu::CUgraphExec>(call);
    tell_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, data);
  } else if (name.starts_with("cuGraphInstantiate")) {
    data.graph = parameter<cu::CUgraph>(call, sizeof(void*));
    tell_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, data);
  }
}

void tell_creation(const frame::ApiCall& call) {
  const std::string_view name = call.name;
  if (name.starts_with("cuCtxCreate") || name == "cuDevicePrimaryCtxRetain") {
    tell_context(*parameter<cu::CUcontext*>(call));
  } else if (name.starts_with("cuStreamCreate")) {
    tell(CUPTI_CBID_RESOURCE_STREAM_CREATED, current_context(), *parameter<cu::CUstream*>(call),
         nullptr);
  } else if (name == "cuGraphCreate") {
    tell_graph_made(*parameter<cu::CUgraph*>(call));
  } else if (name == "cuStreamEndCapture" || name == "cuStreamEndCapture_ptsz") {
    tell_graph_made(*parameter<cu::CUgraph*>(call, sizeof(void*)));
  } else if (name == "cuGraphClone") {
    tell_clone(*parameter<cu::CUgraph*>(call), parameter<cu::CUgraph>(call, sizeof(void*)));
  } else if (adds_node(name)) {
    tell_node(parameter<cu::CUgraph>(call, sizeof(void*)), *parameter<cu::CUgraphNode*>(call));
  } else if (name.starts_with("cuGraphInstantiate")) {
    GraphData data{};
    data.exec = *parameter<cu::CUgraphExec*>(call);
    data.graph = parameter<cu::CUgraph>(call, sizeof(void*));
    tell_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, data);
  }
}

}  // namespace km::cupti
