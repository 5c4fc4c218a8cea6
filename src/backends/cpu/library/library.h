// Tasks of calls of libraries: Fourier transforms, sparse products and solvers.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/task.h"

namespace km::cpu {

// Each makes a task of the call, whose name it has, for up to `threads` threads.
Result<std::shared_ptr<const Task>> make_fft_task(const char* name, const kmb_fft_call& call,
                                                  uint32_t threads);
Result<std::shared_ptr<const Task>> make_sparse_task(const char* name, const kmb_sparse_call& call,
                                                     uint32_t threads);
Result<std::shared_ptr<const Task>> make_solve_task(const char* name, const kmb_solve_call& call,
                                                    uint32_t threads);

/// Makes the task that posts operations of communicators.
Result<std::shared_ptr<const Task>> make_comm_task(const char* name, const kmb_comm_call& call);

/// The task of a call of any kind.
Result<std::shared_ptr<const Task>> make_library_task(const kmb_library_call& call,
                                                      uint32_t threads);

}  // namespace km::cpu
