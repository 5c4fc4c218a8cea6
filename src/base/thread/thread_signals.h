// The signal mask of the threads that this library starts.
#pragma once

#include <signal.h>

namespace km {

/// Sets the signal mask for new threads of the library on the calling thread, and restores the old
/// one when destroyed; new threads inherit it. It blocks signals for the process, so that the
/// host's handlers run only on the host's threads. Signals that a thread raises itself, by a fault
/// or abort(), are not blocked.
class LibraryThreadSignals {
 public:
  LibraryThreadSignals();
  ~LibraryThreadSignals();
  LibraryThreadSignals(const LibraryThreadSignals&) = delete;
  LibraryThreadSignals& operator=(const LibraryThreadSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace km
