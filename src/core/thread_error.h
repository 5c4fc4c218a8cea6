// The text of the last failed call of each thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace km {

/// Sets the calling thread's text to "function: message". Needs no memory, so it never fails.
void set_thread_error(const char* function, std::string_view message, int64_t native_code);
std::string_view thread_error_message();
int64_t thread_error_native_code();

}  // namespace km
