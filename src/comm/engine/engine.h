// The interface that carries out the operations of one rank.
#pragma once

#include <functional>

#include "comm/engine/batch.h"
#include "comm/segment/failure.h"

namespace km::comm {

/// A thread that posts operations goes on after a moment at most, or it waits for their end anyway,
/// so that it may carry them out.
enum class Poster : uint8_t { kGoesOn, kWaits };

class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Begins the operations; each is ended by Batch::finish_one().
  virtual void post(const SharedBatch& batch, Poster poster) = 0;
  /// True if post() of the operations takes a moment, so that it may be part of the call.
  virtual bool begins_at_once(std::span<const Operation> operations) const = 0;
  /// Ends all operations that wait for other ranks, since the communicator has failed.
  virtual void stop() = 0;
  /// A function that waits until the engine has let go of a library of the program's, or has had
  /// time for that: others may keep the engine beyond its owner.
  virtual std::function<void()> departure() const {
    return [] {};
  }
};

}  // namespace km::comm
