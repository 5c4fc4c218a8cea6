// The interface that carries out the operations of one rank.
#pragma once

#include "comm/engine/batch.h"
#include "comm/segment/failure.h"

namespace km::comm {

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Begins the operations; each is ended by Batch::finish_one().
  virtual void post(const SharedBatch& batch) = 0;
  /// Ends all operations that wait for other ranks, since the communicator has failed.
  virtual void stop() = 0;
};

}  // namespace km::comm
