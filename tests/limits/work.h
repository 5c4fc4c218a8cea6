// What a process does that is short of something.
#pragma once

#include <string>

#include <kernelmill/c_api.h>

namespace km::limits_test {

struct Outcome {
  km_status status = KM_SUCCESS;
  std::string message;    // of the first call that failed
  bool is_wrong = false;  // a result is not what it has to be
};

/// Opens the device, compiles, launches, copies, checks results, makes a kernel fault and resets:
/// up to the first call that fails. All objects are destroyed.
Outcome work();

}  // namespace km::limits_test
