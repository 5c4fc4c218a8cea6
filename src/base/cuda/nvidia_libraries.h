// NVIDIA's libraries that run on NVIDIA's driver only, and what programs use in their place.
#pragma once

#include <string_view>

namespace km {

struct NvidiaLibrary {
  std::string_view begin;  // of the file's name
  const char* name;
  const char* advice;  // what to do with a program that needs it
};

/// The library of a file without folders; null: it is none of them.
const NvidiaLibrary* find_nvidia_library(std::string_view file_name);

}  // namespace km
