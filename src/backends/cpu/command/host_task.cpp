#include "backends/cpu/command/host_task.h"

#include "backends/cpu/command/work.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

class HostTask final : public Task {
 public:
  /// Takes over the reference to the task's data.
  explicit HostTask(const kmb_task& task) : task_(task) {
    KM_ASSERT(task.run != nullptr && task.pieces != 0, "a task has pieces and a function");
    KM_ASSERT(task.start == nullptr || task.pieces == 1, "a task that is started has one piece");
  }
  ~HostTask() override { task_.release(task_.data); }

  const char* name() const override { return task_.name; }
  uint64_t pieces() const override { return task_.pieces; }
  float estimated_ns() const override { return static_cast<float>(task_.estimated_ns); }
  Status run(uint64_t piece) const override {
    kmb_error error{};
    const km_status status = task_.run(task_.data, piece, &error);
    if (status == KM_SUCCESS) return {};
    return make_error(status, "%s: %s", task_.name, error.message);
  }
  bool is_asynchronous() const override { return task_.start != nullptr; }
  bool start(bool may_wait, void (*resume)(void*), void* resume_data) const override {
    return task_.start(task_.data, may_wait ? 1 : 0, resume, resume_data) != 0;
  }
  bool begins_at_once() const override { return task_.begins_at_once != 0; }

 private:
  const kmb_task task_;
};

}  // namespace

std::shared_ptr<const Task> make_host_task(const kmb_task& task, uint64_t graph) {
  kmb_task own = task;
  if (graph != 0 && task.for_graph != nullptr) {
    own.data = task.for_graph(task.data, graph);
    if (own.data == nullptr) return nullptr;
  } else {
    own.retain(own.data);
  }
  return std::make_shared<HostTask>(own);
}

}  // namespace km::cpu
