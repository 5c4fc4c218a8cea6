// The operations of graph nodes: a struct for each with its parameters only, and the variant of
// all.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/match.h"
#include "core/blas/blas.h"
#include "core/graph/graph.h"
#include "core/module/kernel_launch.h"
#include "core/object/held_task.h"
#include "core/stream/event.h"

namespace km {

/// The sides of a copy: both on the device, or one of them on the host.
enum class CopySides : uint8_t { kDevice, kFromHost, kToHost };

struct EmptyOperation {
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_EMPTY; }
};

struct KernelOperation {
  Ref<Function> function;
  LaunchShape shape;
  std::vector<std::byte> arguments;  // in the layout of the function's parameters
  uint64_t update_handle = 0;        // the handle by which kernels change the node; 0: none does
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_KERNEL; }
};

/// A copy of one contiguous range.
struct CopyOperation {
  CopySides sides = CopySides::kDevice;
  uint64_t destination = 0, source = 0, size_bytes = 0;
  km_graph_node_kind kind() const;
};

struct RowsCopyOperation {
  CopySides sides = CopySides::kDevice;
  kmb_copy_3d rows{};
  uint64_t size_bytes = 0;  // of all rows
  km_graph_node_kind kind() const;
};

/// A copy between contexts; both are null if it copies nothing. The work's memories keep them
/// alive.
struct PeerCopyOperation {
  uint64_t destination = 0, source = 0, size_bytes = 0;
  kmb_context* destination_context = nullptr;
  kmb_context* source_context = nullptr;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_COPY_PEER; }
};

struct FillOperation {
  uint64_t destination = 0, size_bytes = 0;
  uint32_t value = 0, value_size_bytes = 0;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_FILL; }
};

struct RowsFillOperation {
  kmb_fill_2d rows{};
  uint64_t size_bytes = 0;  // of all rows
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_FILL_2D; }
};

struct HostOperation {
  km_host_callback callback = nullptr;
  void* user_data = nullptr;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_HOST; }
};

struct ChildOperation {
  Ref<Graph> graph;  // not shared with other nodes
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_CHILD; }
};

struct BlasOperation {
  Ref<BlasEngine> engine;
  std::unique_ptr<const kmb_blas_call> call;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_BLAS; }
};

/// A call of a library beside BLAS; `holder` keeps the object that the call refers to.
struct LibraryOperation {
  Ref<ContextChild> holder;
  std::unique_ptr<const kmb_library_call> call;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_LIBRARY; }
};

/// Work of a library of the host.
struct TaskOperation {
  HeldTask task;
  const Context* context = nullptr;  // whose streams run it; the work's memories keep it alive
  static constexpr km_graph_node_kind kind() { return KMB_GRAPH_NODE_TASK; }
};

struct MemoryOpsOperation {
  std::vector<kmb_memory_op> ops;
  static constexpr km_graph_node_kind kind() { return KM_GRAPH_NODE_MEMORY_OPS; }
};

struct EventRecordOperation {
  Ref<Event> event;
  static constexpr km_graph_node_kind kind() { return KMB_GRAPH_NODE_EVENT_RECORD; }
};

struct EventWaitOperation {
  Ref<Event> event;
  static constexpr km_graph_node_kind kind() { return KMB_GRAPH_NODE_EVENT_WAIT; }
};

/// Graphs within a node, and their condition: 32 bits at `address` select what runs.
struct ConditionalOperation {
  enum class Kind : uint8_t {
    kIf,      // the first graph if they are not 0, otherwise the second
    kWhile,   // the only graph, repeated while they are not 0
    kSwitch,  // the graph with that index
  };
  Kind condition = Kind::kIf;
  bool has_default = false;  // default_value is stored when the outermost graph starts
  uint32_t default_value = 0;
  uint64_t address = 0;
  std::vector<Ref<Graph>> bodies;  // may change until the outermost graph is instantiated
  static constexpr km_graph_node_kind kind() { return KMB_GRAPH_NODE_BRANCH; }
};

using GraphOperation =
    std::variant<EmptyOperation, KernelOperation, CopyOperation, RowsCopyOperation,
                 PeerCopyOperation, FillOperation, RowsFillOperation, HostOperation, ChildOperation,
                 BlasOperation, LibraryOperation, TaskOperation, MemoryOpsOperation,
                 EventRecordOperation, EventWaitOperation, ConditionalOperation>;

/// The work of a node: its operation and the objects that the operation refers to.
struct GraphWork {
  GraphOperation operation;
  std::vector<Ref<Memory>> memories;
  std::vector<MemoryUse> uses;       // the ordered uses of memory
  std::shared_ptr<const void> note;  // data that the node's creator attached

  km_graph_node_kind kind() const;
  /// The operation if it is a T, otherwise null.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&operation);
  }
  /// The number of bytes that a copy or fill writes; 0 for other operations.
  uint64_t written_bytes() const;
  /// The graph of a child node, otherwise null.
  const Graph* child() const;
  /// True for a kernel node that kernels may change.
  bool is_updatable() const;
};

/// Adds a use to the work if it is ordered.
void add_use(GraphWork& work, const MemoryUse& use);

}  // namespace km
