// A tiny interpreter for one thread of a flattened kernel: enough integer and f32 PTX to see what a
// transformation did to the meaning.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/ir.h"

namespace km::simt::testing {

struct ScalarRun {
  std::string error;                    // an instruction that it does not know
  std::map<uint64_t, uint64_t> stored;  // st.global: address -> bits
  struct Call {
    std::string name;
    std::vector<uint64_t> arguments;
  };
  std::vector<Call> calls;  // of externals; they return 77
};

/// %tid.x is `thread`; `params` is the kernel's argument buffer.
ScalarRun run_scalar(const ptx::Module& module, const ptx::Function& kernel, uint32_t thread,
                     const std::vector<uint8_t>& params);

}  // namespace km::simt::testing
