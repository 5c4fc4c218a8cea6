// PTX and object files that one machine prepares for the tests of another, on which compiling takes
// long: an emulated one. KM_TEST_PREPARED names their folder. A run with KM_CPU_OBJECT_ISA fills it
// with code for that machine, others take from it what it has.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <kernelmill/c_api.h>

namespace km::kernels {

using BlockSize = std::array<uint32_t, 3>;

/// The PTX that was prepared of a source with these options, or what `make` gives, which is kept
/// where PTX is prepared.
std::string prepared_ptx(const std::string& source, const std::vector<std::string>& options,
                         const std::function<std::string()>& make);

/// The object file that was prepared of the PTX; empty if there is none.
std::string prepared_object(const std::string& ptx);

/// Keeps an object file of the module, with code for blocks of these sizes, where they are
/// prepared.
void prepare_object(km_module module, const std::string& ptx, const std::set<BlockSize>& blocks);

}  // namespace km::kernels
