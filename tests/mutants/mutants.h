// Names that all kernels here use, whose comments mutants.py reads:
// - `// run: GRID BLOCK ARGUMENT...` begins a program, which must have no finding. Arguments are
//   arrays of i32, zeros[N] or random[N] (numbers from 0 to 999), and numbers; shared=BYTES is
//   dynamic shared memory.
// - `// mutant: KIND` marks a line without which the program may misbehave, so that the checker
//   should find something. Of a bound that is `if (...) statement` only the condition is taken
//   away, unless the statement is a return.
// - `// harmless: KIND` marks a line without which it cannot, for the reason in the line before.
// Each barrier, fence and wait that is written as a call has a mark.
#pragma once

#define T static_cast<int>(threadIdx.x)
#define B static_cast<int>(blockIdx.x)
#define I static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void
