// The origin of a profile: program, machine, date and library.
#pragma once

#include <string>

namespace km {

struct ProfileAbout {
  std::string program;  ///< the process's command line, truncated if long
  std::string machine;  ///< the host's name and system
  std::string date;     ///< "2027-01-31 12:00:00 UTC"
  std::string library;  ///< "Kernelmill 1.0.0"
};

/// Describes this process; the date is the current time.
ProfileAbout about_this_profile();

/// Explains why a profile has no events.
constexpr const char* kEmptyProfile =
    "Nothing was recorded: no kernel, copy, fill, range or wait ended while it was recorded. Work "
    "counts when it is over: synchronise the stream before the end.";

}  // namespace km
