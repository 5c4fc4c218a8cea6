// The texts of errors, kept for cuLogs*.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/driver.h"

namespace km::dropin {

/// Keeps a text, for cuLogs* and for the listeners, who hear of it when the call fails.
void keep_log(const char* text) noexcept;

/// Calls the callbacks of cuLogsRegisterCallback with the texts that this thread has logged. No
/// lock is held then: they may make calls.
void tell_listeners() noexcept;

/// Has a function of the program hear of each text; gives the listener's number, never 0.
uint64_t add_log_listener(cu::CUlogsCallback callback, void* data);
/// False: there is no such listener.
bool remove_log_listener(uint64_t id);

/// The number of the next text.
unsigned end_of_log();
/// The texts from the iterator on (null: all), which moves to the end.
std::string take_log(cu::CUlogIterator* iterator);

}  // namespace km::dropin
