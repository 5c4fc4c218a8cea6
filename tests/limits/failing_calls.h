// Calls of the system that fail on request: this program's definitions stand before the
// C library's for all libraries that it loads.
#pragma once

namespace km::limits_test {

enum class SystemCall { none, map, protect, start_thread, open_file };

/// From now on `call` succeeds `successes` times, and fails then, once or for ever after.
void fail_calls(SystemCall call, int successes, bool for_ever);
/// Whether one has failed since; from now on all succeed.
bool stop_failing();

}  // namespace km::limits_test
