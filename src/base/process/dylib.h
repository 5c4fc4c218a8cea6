// Shared libraries that are opened at run time. They are never closed, because threads may still
// run in them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/process/import_overrides.h"
#include "base/result.h"

namespace km {

class Dylib {
 public:
  /// Opens `path` with local symbols, all of them resolved; a name without '/' is looked up in the
  /// loader's search path. The error's text is the loader's.
  static Result<Dylib> open(const std::string& path);
  /// Opens the file at `path` even if the dynamic linker knows one of our libraries by that path,
  /// because it gave it to the program in the file's place.
  static Result<Dylib> open_replaced(const std::string& path);

  /// Opens a private copy of the library in file `path`, even if the host program has loaded the
  /// library: the copy shares no state, and finds its own symbols first. It takes memory of the
  /// file's size.
  static Result<Dylib> open_private(const std::string& path);

  /// Opens `path` like open(), with `overrides` replacing functions that the library imports,
  /// already for its constructors. A library that the process has loaded before keeps its imports.
  /// KM_ERROR_NOT_SUPPORTED if the loader cannot do that.
  static Result<Dylib> open_overriding(const std::string& path,
                                       std::span<const ImportOverride> overrides);

  /// The symbol's address; null if the library does not export it.
  void* symbol(const char* name) const;
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  /// Redirects the library's calls of the imported function `name` to `function`; other libraries'
  /// calls do not change. Returns false if the library does not import it or its tables cannot be
  /// written.
  bool replace_import(const char* name, void* function) const;
  /// The path at which the loader found the library.
  std::string path() const;

 private:
  explicit Dylib(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The address that the program's own uses of the symbol have; null if none of its libraries has
/// it.
void* program_symbol(const char* name);

/// The folders in which the loader looks for libraries, apart from its cache.
std::vector<std::string> loader_folders();

/// The paths of the shared libraries that the process has loaded, as the loader names them.
std::vector<std::string> loaded_libraries();

/// The path of the shared library or program that contains `address`; empty if unknown.
std::string file_of_code(const void* address);
/// The folder of the shared library or program that contains `address`; empty if unknown.
std::string folder_of_code(const void* address);

/// A global function or variable of the program or its global libraries; null if there is none.
void* symbol_of_process(const char* name);

}  // namespace km
