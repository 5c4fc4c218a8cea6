// Ranks of several processes: data pass through the memory that they share, piece by piece, by a
// thread of each rank.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "comm/engine/engine.h"
#include "comm/segment/membership.h"

namespace km::comm {

/// The engine of one rank. Its thread keeps `membership`; failures are told there, and to `fail`.
std::unique_ptr<Engine> make_shared_engine(std::shared_ptr<Membership> membership,
                                           std::function<void(const Failure&)> fail);

}  // namespace km::comm
