// Instantiated graphs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "backends/cuda/blas/blas.h"
#include "backends/cuda/context/host_call.h"
#include "backends/cuda/library/library.h"
#include "backends/cuda/stream/stream.h"

namespace km::cuda {

class Graph {
 public:
  explicit Graph(std::shared_ptr<Epoch> epoch)
      : epoch_(std::move(epoch)), blas_(epoch_), libraries_(epoch_) {}
  /// No launch may be running.
  ~Graph() = default;

  Status build(const kmb_graph_node* nodes, uint64_t count);
  /// Leaves the user data of host nodes to the caller, because building the graph failed.
  void give_calls_up();
  Status update(const uint32_t* indices, const kmb_graph_node* nodes, uint64_t count);
  Status launch(Stream& stream);

  Epoch& epoch() const { return *epoch_; }
  /// The stream of the last launch; null before the first one.
  const std::shared_ptr<Stream>& last_stream() const { return last_stream_; }
  uint64_t last_ticket() const { return last_ticket_; }

 private:
  // The operations of nodes, with copies of all data that the interface only lends.
  struct Empty {};
  struct Kernel {
    kmb_kernel_node node{};
    std::string arguments;
  };
  struct Copy {
    cu::CUDA_MEMCPY3D native{};
  };
  struct Fill {
    cu::CUDA_MEMSET_NODE_PARAMS native{};
  };
  struct Host {
    std::shared_ptr<HostCall> call;
  };
  struct Blas {
    kmb_blas_call call{};
  };
  struct Library {
    kmb_library_call call{};
  };
  struct MemoryOps {
    std::vector<kmb_memory_op> ops;
    // The library's kernel for an operation that the driver cannot do; otherwise null.
    cu::CUfunction kernel = nullptr;
  };
  using Operation = std::variant<Empty, Kernel, Copy, Fill, Host, Blas, Library, MemoryOps>;
  /// A node's work.
  struct Form {
    km_graph_node_kind kind = KM_GRAPH_NODE_EMPTY;
    Operation operation;
    /// The call of a host node; null for other nodes.
    std::shared_ptr<HostCall> call() const {
      const auto* const host = std::get_if<Host>(&operation);
      return host != nullptr ? host->call : nullptr;
    }
  };
  /// Makes a form that owns the user data of a host node; HostCall::give_up() returns it.
  static Result<Form> make_form(const std::shared_ptr<Epoch>& epoch, const kmb_graph_node& given,
                                uint64_t index);
  class NodeAdder;
  class NodeSetter;
  struct Node {
    std::vector<uint32_t> dependencies;
    Form form;
  };
  /// A driver graph and its executable graph. Destroyed when no launch of it is running.
  struct Instance {
    explicit Instance(const std::shared_ptr<Epoch>& epoch) : epoch(epoch) {}
    ~Instance();
    const std::shared_ptr<Epoch> epoch;
    cu::CUgraph graph = nullptr;
    cu::CUgraphExec exec = nullptr;
    std::vector<cu::CUgraphNode> nodes;
  };
  /// Chooses between the driver's memory operation and a kernel.
  Status choose_op_kernel(Form* form);
  static Status require_same_kind(const Form& before, const Form& after, uint32_t index);
  static bool is_line(const Form& form);
  static bool is_refused_change(const Form& form, Called called);
  static bool has_other_op_kernel(const Form& before, const Form& after);
  /// Builds an instance of all nodes in the given forms.
  Result<std::shared_ptr<Instance>> instantiate(const std::vector<const Form*>& forms);
  Status add_node(Instance& instance, uint64_t index, const Form& form);
  Status add_blas(Instance& instance, uint64_t index, const kmb_blas_call& call,
                  const std::vector<cu::CUgraphNode>& dependencies);
  Status add_library(Instance& instance, uint64_t index, const kmb_library_call& call,
                     const std::vector<cu::CUgraphNode>& dependencies);
  /// Adds a child graph with the work that a library queued, which it takes.
  Status add_child(Instance& instance, uint64_t index, cu::CUgraph child,
                   const std::vector<cu::CUgraphNode>& dependencies);
  /// Returns false if the driver cannot change an instance in this way.
  Result<bool> set_node(uint32_t index, const Form& form);
  Result<bool> set_blas(uint32_t index, const Form& form, const kmb_blas_call& call);
  Result<bool> set_library(uint32_t index, const Form& form, const kmb_library_call& call);
  Result<bool> set_child(uint32_t index, const Form& form, cu::CUgraph child);
  Result<bool> set_all(const uint32_t* indices, const std::vector<Form>& forms);
  Status replace_instance(const uint32_t* indices, const std::vector<Form>& forms);
  Status expect_calls();
  bool take_calls_back();

  const std::shared_ptr<Epoch> epoch_;

  std::mutex mutex_;  // guards the members below
  std::vector<Node> nodes_;
  std::shared_ptr<Instance> instance_;
  GraphBlas blas_;
  GraphLibraries libraries_;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

}  // namespace km::cuda
