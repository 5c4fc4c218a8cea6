// The modules whose code is hashed.
#pragma once

#include <string>
#include <vector>

#include "module_text.h"

namespace km::code_hashes {

/// Appends all .ptx and .cu files below the folder, by name; NVRTC compiles the latter.
void add_folder(const std::string& folder, std::vector<ModuleText>* modules);

/// Appends `count` random kernels, each a module: the same ones in each run.
void add_random(unsigned count, std::vector<ModuleText>* modules);

/// Appends the kernels of this repository: tests, benchmarks, examples, random ones.
void add_repository(std::vector<ModuleText>* modules);

}  // namespace km::code_hashes
