// The engine of ranks that are processes of MPI: a thread of each rank.
#pragma once

#include <functional>
#include <memory>

#include "comm/engine/engine.h"
#include "comm/mpi/mpi_ranks.h"

namespace km::comm {

/// The engine of one rank; null if the system has no thread. Failures are told to `fail`.
std::unique_ptr<Engine> make_mpi_engine(std::shared_ptr<MpiRanks> ranks,
                                        std::function<void(const Failure&)> fail);

}  // namespace km::comm
