// Pieces of PTX from which modules of any size are put together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace km::growth {

/// The lines on version, target and address size, then `items`.
std::string module_of(const std::string& items);

/// A kernel `k` with one pointer parameter and the registers that bodies use: %p<4> and %r<32>,
/// %f<32>, %rd<32>. %r1 is %tid.x, %r2 and %f1 are loaded from memory, %rd1 is the pointer.
std::string kernel_of(const std::string& body, const std::string& declarations = "");

/// The texts for 0 to n - 1, one after the other.
std::string repeat(uint32_t n, const std::function<std::string(uint32_t)>& text);

/// `$` in the pattern stands for the number.
std::string numbered(const std::string& pattern, uint64_t number);
std::string repeat(uint32_t n, const std::string& pattern);

}  // namespace km::growth
