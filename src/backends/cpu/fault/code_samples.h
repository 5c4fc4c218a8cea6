// KM_DUMP=samples: the addresses of generated code at which its threads spend their time.
#pragma once

#include <cstdint>
#include <map>

namespace km::cpu {

/// Samples of one range of generated code.
struct CodeSamples {
  std::map<uint64_t, uint32_t> by_address;  // of instructions that were about to run
  uint32_t in_engine = 0;                   // in functions that the code calls
};

/// Makes the calling thread's processor time raise a signal that samples generated code, if KM_DUMP
/// lists samples. The thread's timer costs a system call, once.
void sample_this_thread();

/// True if threads are sampled.
bool samples_code();

/// Takes the samples of the code with this range out of those of the process. Another caller may
/// not take at the same time.
CodeSamples take_samples(uint64_t begin, uint64_t end);

}  // namespace km::cpu
