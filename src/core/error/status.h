// Texts of the status codes: names, meanings and advice.
#pragma once

#include "kernelmill/c_api.h"

namespace km {

struct StatusText {
  km_status status;
  km_error_category category;
  const char* name;         // "KM_ERROR_OUT_OF_BOUNDS"
  const char* description;  // one sentence that holds for every call
  const char* recovery;     // advice for the program's author
};

/// The texts of a status; null for values that this library does not return.
const StatusText* status_text(km_status status);

/// True if a status reports a failure; KM_NOT_READY and KM_TIMEOUT do not.
constexpr bool is_error(km_status status) { return status >= KM_ERROR_INTERNAL; }

}  // namespace km
