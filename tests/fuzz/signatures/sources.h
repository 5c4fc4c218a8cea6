// Random CUDA C++ with kernels whose parameters have types of all kinds, and changes to it.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace km_fuzz {

/// A kernel of a source before it was changed.
struct SourceKernel {
  std::string name;       // in the PTX, where it is extern "C"
  std::string qualified;  // "ns::k3"
};

struct Source {
  std::string text;
  std::vector<SourceKernel> kernels;
};

/// `kernel_count` kernels, extern "C" in various ways.
Source random_source(std::mt19937& random, int kernel_count);
/// The text with one to three changes of characters, words, types or comments.
std::string mutated(std::string text, std::mt19937& random);

}  // namespace km_fuzz
