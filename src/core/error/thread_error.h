// The error of the last failed call of each thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernelmill/c_api.h"

namespace km {

/// Sets the calling thread's text to "function: message". Allocates no memory, so it cannot fail.
void set_thread_error(const char* function, km_status status, std::string_view message,
                      int64_t native_code);
/// KM_SUCCESS if no call has failed or the error was taken.
km_status thread_error_status();
/// Clears status, text and native code.
void clear_thread_error();
std::string_view thread_error_message();
int64_t thread_error_native_code();

}  // namespace km
