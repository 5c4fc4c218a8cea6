// The signal mask of the threads that this library starts.
#pragma once

#include <signal.h>

namespace km {

/// Gives the calling thread, until it is destroyed, the mask that threads of the library have, for
/// a new thread inherits it: signals for the process are the host's, whose handlers run on its own
/// threads only; those that a thread raises itself, by a fault or abort(), always arrive.
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
