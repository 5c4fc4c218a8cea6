// BLAS objects and BLAS nodes of graphs.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backends/cuda/memory/memory.h"

namespace km::cuda {

class Blas {
 public:
  explicit Blas(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)) {}
  /// No call may be running.
  ~Blas();

  /// Takes a cuBLAS handle before the first call, because creating one waits for queued work. If
  /// that fails, the first call tries again and reports the error. The context must be current.
  Status prepare();
  /// Queues a call. The context must be alive and current.
  Status submit(Stream& stream, const kmb_blas_call& call);
  /// The stream of the last call; null before the first one.
  const std::shared_ptr<Stream>& last_stream() const { return last_stream_; }
  uint64_t last_ticket() const { return last_ticket_; }

 private:
  Result<uint64_t> scratch(Stream& stream, uint64_t size_bytes);
  kmb_use last_use() const;

  const std::shared_ptr<Epoch> epoch_;
  std::mutex mutex_;  // guards the members below
  BlasHandle handle_;
  std::unique_ptr<Memory> scratch_;
  uint64_t scratch_bytes_ = 0;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

/// The BLAS calls of one graph. The graph has its own workspaces for cuBLAS, so that no other call
/// uses them at the same time; nodes share one only if they run one after the other.
class GraphBlas {
 public:
  explicit GraphBlas(const std::shared_ptr<Epoch>& epoch) : epoch_(epoch) {}
  /// The context may be alive or lost, but no launch may be running.
  ~GraphBlas() = default;

  /// Assigns a workspace to the call of node `index`. Nodes must be added in order.
  Status add_node(uint64_t index, std::span<const uint32_t> dependencies, bool has_call);
  /// Captures the call as a graph, which the caller owns.
  Status capture(uint64_t index, const kmb_blas_call& call, cu::CUgraph* out_graph);

 private:
  struct Workspace {
    std::unique_ptr<Memory> memory;
    uint32_t last = 0;  // the last node that uses it, + 1
  };
  struct Place {
    // For each workspace, the last node that uses it and runs before this node, + 1.
    std::vector<uint32_t> before;
    uint32_t workspace = UINT32_MAX;
    uint64_t scratch_address = 0, scratch_bytes = 0;
  };
  Result<std::unique_ptr<Memory>> allocate(uint64_t size_bytes);
  Status add_workspace();
  Result<uint64_t> scratch(Place& place, uint64_t size_bytes);
  Status record(Place& place, cu::CUstream stream, const kmb_blas_call& call);

  const std::shared_ptr<Epoch> epoch_;
  std::vector<Workspace> workspaces_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Memory>> scratch_;  // launches that are running may use it too
};

}  // namespace km::cuda
