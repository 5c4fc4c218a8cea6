// Calls of cuFFT, cuSPARSE, cuSOLVER and NCCL, and their nodes of graphs.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/blas/blas_call.h"
#include "backends/cuda/memory/memory.h"

namespace km::cuda {

/// The stream of a call and the memory beside its arrays. The context must be current.
struct LibraryTarget {
  Epoch& epoch;
  cu::CUstream stream;
  const BlasScratch& scratch;  // device memory for this call alone
  Stream* queue = nullptr;     // the stream's object; null: the call is captured
};

Status queue_fft(const LibraryTarget& target, const kmb_fft_call& call);
Status queue_sparse(const LibraryTarget& target, const kmb_sparse_call& call);
Status queue_solve(const LibraryTarget& target, const char* name, const kmb_solve_call& call);
/// Frees memory that a call of the stream has used, after the ticket.
void free_scratch(Stream& stream, uint64_t ticket, std::vector<std::unique_ptr<Memory>> scratch);
/// Queues the call by the library of its kind.
Status queue_library(const LibraryTarget& target, const kmb_library_call& call);

class Comm;

/// The calls of one graph, each with device memory of its own.
class GraphLibraries {
 public:
  explicit GraphLibraries(const std::shared_ptr<Epoch>& epoch) : epoch_(epoch) {}
  /// The context may be alive or lost, but no launch may be running.
  ~GraphLibraries();
  /// Captures the call as a graph, which the caller owns.
  Status capture(const kmb_library_call& call, cu::CUgraph* out_graph);

 private:
  const std::shared_ptr<Epoch> epoch_;
  std::vector<std::shared_ptr<Comm>> comms_;
  std::vector<std::unique_ptr<Memory>> scratch_;  // launches that are running may use it too
};

}  // namespace km::cuda
