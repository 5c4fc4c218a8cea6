// The log of error texts that cuLogs* read.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/driver.h"

namespace km::dropin {

/// Appends a text to the log. Listeners receive it when the call fails.
void keep_log(const char* text) noexcept;

/// Calls the callbacks of cuLogsRegisterCallback with the texts that this thread has logged. No
/// lock is held during the callbacks, so they may call the driver.
void tell_listeners() noexcept;

/// Registers a callback that receives each text; returns the listener's number, which is never 0.
uint64_t add_log_listener(cu::CUlogsCallback callback, void* data);
/// Returns false if there is no such listener.
bool remove_log_listener(uint64_t id);

/// The number of the next text.
unsigned end_of_log();
/// The texts from the iterator on (all texts if it is null). Moves the iterator to the end.
std::string take_log(cu::CUlogIterator* iterator);

}  // namespace km::dropin
