// All that contexts hold, in the order in which it begins and ends: the one place that knows both
// contexts and the floors above them.
#pragma once

namespace km::dropin {

/// Tells contexts of the floors above them. Part of cuInit, which comes before all contexts.
void connect_contexts();

}  // namespace km::dropin
