// Graphs, ready to be launched.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cuda/blas.h"
#include "backends/cuda/host_call.h"
#include "backends/cuda/stream.h"

namespace km::cuda {

class Graph {
 public:
  explicit Graph(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)), blas_(epoch_) {}
  /// No launch is under way any more.
  ~Graph();

  Status build(const kmb_graph_node* nodes, uint64_t count);
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
  };
  struct Node {
    cu::CUgraphNode handle = nullptr;
    Form form;
  };
  Status build_nodes(const kmb_graph_node* nodes, uint64_t count);
  Called add(const Form& form, const std::vector<cu::CUgraphNode>& dependencies,
             cu::CUgraphNode* out_node);
  Called set(cu::CUgraphNode node, const Form& form);
  Status add_blas(const kmb_graph_node& given, const std::vector<cu::CUgraphNode>& dependencies);
  Status set_node(uint32_t index, const Form& form);
  Status expect_calls();
  bool take_calls_back();

  const std::shared_ptr<Epoch> epoch_;
  cu::CUgraph graph_ = nullptr;
  cu::CUgraphExec exec_ = nullptr;

  std::mutex mutex_;  // guards what follows
  std::vector<Node> nodes_;
  GraphBlas blas_;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

}  // namespace km::cuda
