// Calls entries of backends and converts their errors.
#pragma once

#include <utility>

#include "backend/interface.h"
#include "base/result.h"

namespace km {

inline Error backend_error(km_status status, kmb_error& error) {
  error.message[sizeof error.message - 1] = '\0';
  return Error{status, error.message, error.native_code};
}

/// call_backend(table.entry, arguments...) adds the entry's last parameter, the error.
template <class... Parameters, class... Arguments>
Status call_backend(km_status (*entry)(Parameters...), Arguments&&... arguments) {
  kmb_error error;  // 4 KiB, so only the head is cleared
  error.native_code = 0;
  error.message[0] = '\0';
  const km_status status = entry(std::forward<Arguments>(arguments)..., &error);
  if (status == KM_SUCCESS) [[likely]]
    return {};
  return backend_error(status, error);
}

}  // namespace km
