// Tasks of libraries as graphs keep them.
#pragma once

#include <utility>

#include "backend/interface.h"

namespace km {

/// A task with a reference to its data.
class HeldTask {
 public:
  explicit HeldTask(const kmb_task& task) : task_(task) { task_.retain(task_.data); }
  HeldTask(HeldTask&& other) noexcept : task_(std::exchange(other.task_, kmb_task{})) {}
  HeldTask& operator=(HeldTask&& other) noexcept {
    std::swap(task_, other.task_);
    return *this;
  }
  ~HeldTask() {
    if (task_.release != nullptr) task_.release(task_.data);
  }

  const kmb_task& operator*() const { return task_; }
  const kmb_task* operator->() const { return &task_; }

 private:
  kmb_task task_;
};

}  // namespace km
