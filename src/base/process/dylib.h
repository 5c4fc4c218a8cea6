// Shared libraries opened at run time. They are never closed: threads of theirs may still run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/process/import_overrides.h"
#include "base/result.h"

namespace km {

class Dylib {
 public:
  /// Opens `path` (a name without '/' goes through the loader's search path) with local symbols,
  /// all of them resolved. The error text is the loader's.
  static Result<Dylib> open(const std::string& path);

  /// Opens a copy of its own of the library in file `path`, whatever the host program has loaded:
  /// its state is not shared with anybody, and its symbols come first for itself. The copy takes
  /// memory of the file's size.
  static Result<Dylib> open_private(const std::string& path);

  /// Opens `path` like open(), with `overrides` in place of functions that the library imports, for
  /// its constructors too. A library that the process has loaded already keeps its imports.
  /// KM_ERROR_NOT_SUPPORTED where the loader cannot do that.
  static Result<Dylib> open_overriding(const std::string& path,
                                       std::span<const ImportOverride> overrides);

  /// The symbol's address, null where the library does not export it.
  void* symbol(const char* name) const;
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  /// Has the library call `function` where it calls the imported function `name`; nobody else's
  /// calls change. False when it imports no such function, or its tables cannot be written.
  bool replace_import(const char* name, void* function) const;
  /// The path at which the loader found the library.
  std::string path() const;

 private:
  explicit Dylib(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The folders in which the loader looks for libraries, but for its cache.
std::vector<std::string> loader_folders();

/// The files of the shared libraries that the process has loaded, by the names that they have
/// there.
std::vector<std::string> loaded_libraries();

/// The file of the shared library or program that holds `address`; empty when unknown.
std::string file_of_code(const void* address);
/// The folder of the shared library or program that holds `address`; empty when unknown.
std::string folder_of_code(const void* address);

/// A function or variable of the program or of the libraries that all of it sees; null: none.
void* symbol_of_process(const char* name);

}  // namespace km
