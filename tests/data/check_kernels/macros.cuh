// Kernels for the checker: race_X, memory_X, init_X and sync_X have the defect that their name
// says, sound_race_X and so on are the same without it. What schedule_X does depends on the order
// of blocks, warps and lanes, which --explore shows. All run in 4 blocks of 128 threads, on a[1024]
// and b[1024], with n = 512.
#include <cuda_pipeline.h>

#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void
