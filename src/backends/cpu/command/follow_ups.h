// Streams ask the makers of commands for these while they run the commands.
#pragma once

namespace km::cpu {

class Context;
struct Command;

/// FollowUps gives the commands that run in the place of one that is over: what its kernel has
/// launched.
class FollowUps {
 public:
  virtual ~FollowUps() = default;
  /// The next command, when none runs; null: all is over. A failure goes to the context.
  virtual Command* next() = 0;
  /// Forgets everything, for the next time.
  virtual void clear() = 0;
};

/// NodeUpdates brings what kernels have changed into a graph's kernel node.
class NodeUpdates {
 public:
  virtual ~NodeUpdates() = default;
  /// A launch of the graph begins: takes over what the host has changed.
  virtual void begin() = 0;
  /// Prepares the command for what kernels have changed; false: the node is off, or the failure has
  /// gone to the context. One thread at a time.
  virtual bool refresh(Command* command, Context* context) = 0;
};

}  // namespace km::cpu
