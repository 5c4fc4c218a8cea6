// Interfaces by which streams ask for further commands while they run one.
#pragma once

namespace km::cpu {

class Context;
struct Command;

/// The commands that run before a kernel's command completes: the work that the kernel has
/// launched.
class FollowUps {
 public:
  virtual ~FollowUps() = default;
  /// Returns the next command, or null if none is left. It is called when none of them runs; a
  /// failure goes to the context.
  virtual Command* next() = 0;
  /// Drops all commands, so that the object can be used again.
  virtual void clear() = 0;
};

/// Applies the changes that kernels have made to a graph's kernel node.
class NodeUpdates {
 public:
  virtual ~NodeUpdates() = default;
  /// Called when a launch of the graph begins: applies the host's changes.
  virtual void begin() = 0;
  /// Applies the kernels' changes to the command. Returns false if the node is disabled or failed,
  /// with the failure in the context. One thread at a time.
  virtual bool refresh(Command* command, Context* context) = 0;
};

}  // namespace km::cpu
