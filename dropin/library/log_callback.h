// The log functions that programs give to libraries (cublasSetLoggerCallback and the like).
#pragma once

#include "base/callback/contained_call.h"

namespace km::library {

/// True while the thread runs a log function of the program. Calls that the function makes are not
/// logged, because each of them would call it again without end.
inline bool& is_in_log_callback() noexcept {
  static thread_local bool is_in = false;
  return is_in;
}

/// Calls the program's log function by `call`. The caller must hold no lock, because the function
/// may call the library.
template <class Call>
void call_log_callback(Call&& call) noexcept {
  is_in_log_callback() = true;
  call_contained(call);
  is_in_log_callback() = false;
}

}  // namespace km::library
