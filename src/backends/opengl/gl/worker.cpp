#include "backends/opengl/gl/worker.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/thread/start_thread.h"

namespace km::opengl {
namespace {

// Compilers of shaders call themselves for each level of an expression.
constexpr uint64_t kStackBytes = 16 << 20;

}  // namespace

struct Worker::State {
  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<Work> given;
  bool is_ending = false, has_ended = false;
  std::optional<Status> begun;

  void tell_begun(Status status) {
    const std::lock_guard lock(mutex);
    begun = std::move(status);
    changed.notify_all();
  }

  void run_all(const GlFunctions& gl) {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return is_ending || !given.empty(); });
      if (given.empty()) return;
      const Work next = std::move(given.front());
      given.pop_front();
      lock.unlock();
      next(gl);
    }
  }

  void live(Display display) {
    {
      Result<CurrentContext> context = CurrentContext::make(display);
      tell_begun(context ? Status() : Status(context.error()));
      if (context) run_all(context->gl());
    }
    const std::lock_guard lock(mutex);
    has_ended = true;
    changed.notify_all();
  }
};

Result<std::unique_ptr<Worker>> Worker::start(Display display) {
  auto state = std::make_shared<State>();
  if (!start_thread("km-opengl", kStackBytes, -1, [state, display] { state->live(display); })) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "cannot start a thread for OpenGL: raise the limit on processes (ulimit -u)");
  }
  std::unique_ptr<Worker> worker(new Worker(state));
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->begun.has_value(); });
  const Status begun = *state->begun;
  lock.unlock();
  KM_TRY(begun);
  return worker;
}

Worker::~Worker() {
  std::unique_lock lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->has_ended; });
}

void Worker::post(Work work) {
  const std::lock_guard lock(state_->mutex);
  state_->given.push_back(std::move(work));
  state_->changed.notify_all();
}

void Worker::run(const Work& work) {
  struct Ending {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_over = false;
  } ending;
  post([&](const GlFunctions& gl) {
    work(gl);
    const std::lock_guard lock(ending.mutex);
    ending.is_over = true;
    ending.changed.notify_all();
  });
  std::unique_lock lock(ending.mutex);
  ending.changed.wait(lock, [&] { return ending.is_over; });
}

}  // namespace km::opengl
