// The mode of a kernel on a device.
#pragma once

#include <vector>

#include "base/result.h"
#include "simt/program/program.h"
#include "spirv/spirv.h"

namespace km::spirv {

struct ModeChoice {
  Mode mode = Mode::structured;
  /// The locations of the first instructions of loops that wait for other threads of the block.
  std::vector<const ptx::Instruction*> spin_headers;
};

/// True for volatile stores to shared memory, by which lanes exchange data in step.
bool is_volatile_shared_store(const simt::Inst& inst);
/// True for instructions that the lanes of a warp run together: the block has to be uniform there.
bool runs_in_step(const simt::Inst& inst);

/// KM_ERROR_UNSUPPORTED_PTX for kernels that need progress that no shader is promised.
Result<ModeChoice> choose_mode(const ptx::Module& module, const simt::AnalysedKernel& analysed,
                               const simt::KernelInfo& info, const DeviceFacts& facts);

}  // namespace km::spirv
