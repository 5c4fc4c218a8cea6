// The C library's own functions, and those that stand before them.
#pragma once

#include <dirent.h>
#include <glob.h>

#include <cstddef>

#include "dropin/audit/device_files/stand_in.h"
#include "dropin/audit/image/symbol_table.h"

namespace km::audit {

/// The C library's functions, each null if the library has none of that name.
struct OwnCalls {
#define KM_PATH_CALL(name, result, failure, parameters, arguments) result(*name) parameters;
#include "dropin/audit/device_files/path_calls.def"
#undef KM_PATH_CALL
  DIR* (*opendir)(const char* path);
  dirent* (*readdir)(DIR* folder);
  dirent* (*readdir64)(DIR* folder);
  void (*rewinddir)(DIR* folder);
  int (*closedir)(DIR* folder);
  int (*glob)(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* out);
  int (*glob64)(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* out);
  int* (*errno_location)();
};

extern OwnCalls own_calls;
extern DriverFiles driver_files;

/// The functions that stand before them, in two groups: those that take paths, and those that list
/// folders.
Overrides path_overrides() noexcept;
Overrides listing_overrides() noexcept;

}  // namespace km::audit
