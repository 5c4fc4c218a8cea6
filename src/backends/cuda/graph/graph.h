// Graphs, ready to be launched.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/blas/blas.h"
#include "backends/cuda/graph/host_call.h"
#include "backends/cuda/stream.h"

namespace km::cuda {

class Graph {
 public:
  explicit Graph(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)), blas_(epoch_) {}
  /// No launch is under way any more.
  ~Graph() = default;

  Status build(const kmb_graph_node* nodes, uint64_t count);
  /// The user data of host nodes stay the caller's: the graph was not built.
  void give_calls_up();
  Status update(const uint32_t* indices, const kmb_graph_node* nodes, uint64_t count);
  Status launch(Stream& stream);

  Epoch& epoch() const { return *epoch_; }
  /// The stream of the last launch; null before the first one.
  const std::shared_ptr<Stream>& last_stream() const { return last_stream_; }
  uint64_t last_ticket() const { return last_ticket_; }

 private:
  /// The work of a node, with copies of all that the interface lends.
  struct Form {
    Form() = default;
    Form(const std::shared_ptr<Epoch>& epoch, const kmb_graph_node& given);
    kmb_graph_node node{};
    std::string arguments;
    std::shared_ptr<HostCall> call;  // of a host node
    kmb_blas_call blas_call{};
    std::vector<kmb_memory_op> memory_ops;
    cu::CUfunction op_kernel = nullptr;  // of a memory operation that the driver does not do
  };
  struct Node {
    std::vector<uint32_t> dependencies;
    Form form;
  };
  /// The driver's graph and what is launched of it. Goes when no launch is under way any more.
  struct Instance {
    explicit Instance(const std::shared_ptr<Epoch>& epoch) : epoch(epoch) {}
    ~Instance();
    const std::shared_ptr<Epoch> epoch;
    cu::CUgraph graph = nullptr;
    cu::CUgraphExec exec = nullptr;
    std::vector<cu::CUgraphNode> nodes;
  };
  /// Chooses how the driver does a memory operation.
  Status choose_op_kernel(Form* form);
  /// An instance of all nodes in the forms that are given.
  Result<std::shared_ptr<Instance>> instantiate(const std::vector<const Form*>& forms);
  Status add_node(Instance& instance, uint64_t index, const Form& form);
  Called add(Instance& instance, const Form& form, const std::vector<cu::CUgraphNode>& dependencies,
             cu::CUgraphNode* out_node);
  Called set(cu::CUgraphNode node, const Form& form);
  Status add_blas(Instance& instance, uint64_t index, const Form& form,
                  const std::vector<cu::CUgraphNode>& dependencies);
  /// False if the driver cannot change an instance so.
  Result<bool> set_node(uint32_t index, const Form& form);
  Result<bool> set_all(const uint32_t* indices, const std::vector<Form>& forms);
  Status replace_instance(const uint32_t* indices, const std::vector<Form>& forms);
  Status expect_calls();
  bool take_calls_back();

  const std::shared_ptr<Epoch> epoch_;

  std::mutex mutex_;  // guards what follows
  std::vector<Node> nodes_;
  std::shared_ptr<Instance> instance_;
  GraphBlas blas_;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

}  // namespace km::cuda
