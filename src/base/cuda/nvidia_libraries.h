// NVIDIA's libraries that run only on NVIDIA's driver, and their replacements.
#pragma once

#include <string_view>

namespace km {

struct NvidiaLibrary {
  std::string_view begin;  // beginning of the file's name
  const char* name;
  const char* advice;  // advice for a program that needs the library
};

/// The library that a file name without folders belongs to; null if it is none of these.
const NvidiaLibrary* find_nvidia_library(std::string_view file_name);

}  // namespace km
