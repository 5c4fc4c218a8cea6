// The thread that a context of OpenGL is current on, and runs everything for.
#pragma once

#include <functional>
#include <memory>

#include "backends/opengl/gl/library.h"

namespace km::opengl {

/// A Worker owns a context and its thread. Functions run in the order in which they are given.
class Worker {
 public:
  /// Starts the thread and makes the context there.
  static Result<std::unique_ptr<Worker>> start(Display display);
  /// Waits for what was given, and ends the context and the thread.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  using Work = std::function<void(const GlFunctions&)>;
  void post(Work work);
  /// Runs `work` and waits for it.
  void run(const Work& work);

 private:
  struct State;
  explicit Worker(std::shared_ptr<State> state) : state_(std::move(state)) {}

  const std::shared_ptr<State> state_;
};

}  // namespace km::opengl
