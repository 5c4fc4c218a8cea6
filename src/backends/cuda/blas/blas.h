// BLAS objects, and BLAS calls as nodes of graphs.
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
  /// No call is under way any more.
  ~Blas();

  /// Makes the handle of cuBLAS: that waits for work under way, which a call must not. One that
  /// cannot be had is asked for by the first call once more, which says why. With the context
  /// current.
  Status prepare();
  /// In a context that lives, made current.
  Status submit(Stream& stream, const kmb_blas_call& call);
  /// The stream of the last call; null before the first one.
  const std::shared_ptr<Stream>& last_stream() const { return last_stream_; }
  uint64_t last_ticket() const { return last_ticket_; }

 private:
  Result<uint64_t> scratch(Stream& stream, uint64_t size_bytes);
  kmb_use last_use() const;

  const std::shared_ptr<Epoch> epoch_;
  std::mutex mutex_;  // guards what follows
  BlasHandle handle_;
  std::unique_ptr<Memory> scratch_;
  uint64_t scratch_bytes_ = 0;
  std::shared_ptr<Stream> last_stream_;
  uint64_t last_ticket_ = 0;
};

/// The BLAS calls of one graph. What cuBLAS works in is the graph's own, so that no other call uses
/// it at the same time: nodes share it only where one comes after the other.
class GraphBlas {
 public:
  explicit GraphBlas(const std::shared_ptr<Epoch>& epoch) : epoch_(epoch) {}
  /// With the context alive or lost, and no launch under way.
  ~GraphBlas() = default;

  /// Gives the call of node `index` a workspace. Nodes come in their order.
  Status add_node(uint64_t index, std::span<const uint32_t> dependencies, bool has_call);
  /// The call as a graph of its own, which is the caller's.
  Status capture(uint64_t index, const kmb_blas_call& call, cu::CUgraph* out_graph);

 private:
  struct Workspace {
    std::unique_ptr<Memory> memory;
    uint32_t last = 0;  // the node that uses it last, + 1
  };
  struct Place {
    std::vector<uint32_t> before;  // for each workspace the last node before this one, + 1
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
  std::vector<std::unique_ptr<Memory>> scratch_;  // also what launches under way may use
};

}  // namespace km::cuda
