// The order in which a context's contents begin and end: the only file that knows both contexts and
// the layers above them.
#pragma once

namespace km::dropin {

/// Connects contexts with the layers above them. cuInit calls this before any context exists.
void connect_contexts();

}  // namespace km::dropin
