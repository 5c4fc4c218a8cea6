// 8x8 matrices of halves between shared memory and registers, by inline PTX.
typedef unsigned short u16;
typedef unsigned int u32;

static __device__ u32 shared_address(const void* pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

// `rows` has the row that each lane names; out is 4 registers for each lane.
#define LOAD(NAME, COUNT, TRANS, REGISTERS, ...)                                                \
  extern "C" __global__ void NAME(const u16* in, const u32* rows, u32* out) {                   \
    __shared__ __align__(16) u16 matrix[64 * 8];                                                \
    const u32 t = threadIdx.x, lane = t % 32;                                                   \
    for (u32 i = t; i < 64 * 8; i += blockDim.x) matrix[i] = in[i];                             \
    __syncthreads();                                                                            \
    u32 r[4] = {1, 2, 3, 4};                                                                    \
    const u32 at = lane < 8 * COUNT ? shared_address(matrix + 8 * rows[t]) : 3;                 \
    asm volatile("ldmatrix.sync.aligned.m8n8.x" #COUNT TRANS ".shared.b16 " REGISTERS ", [%4];" \
                 : __VA_ARGS__                                                                  \
                 : "r"(at)                                                                      \
                 : "memory");                                                                   \
    for (u32 k = 0; k < 4; ++k) out[4 * t + k] = r[k];                                          \
  }

LOAD(load_1, 1, "", "{%0}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))
LOAD(load_2, 2, "", "{%0, %1}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))
LOAD(load_4, 4, "", "{%0, %1, %2, %3}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))
LOAD(load_1_trans, 1, ".trans", "{%0}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))
LOAD(load_2_trans, 2, ".trans", "{%0, %1}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))
LOAD(load_4_trans, 4, ".trans", "{%0, %1, %2, %3}", "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]))

#define STORE(NAME, COUNT, TRANS, REGISTERS)                                         \
  extern "C" __global__ void NAME(const u32* in, const u32* rows, u16* out) {        \
    __shared__ __align__(16) u16 matrix[64 * 8];                                     \
    const u32 t = threadIdx.x, lane = t % 32;                                        \
    for (u32 i = t; i < 64 * 8; i += blockDim.x) matrix[i] = 0xEEEE;                 \
    __syncthreads();                                                                 \
    const u16* at = lane < 8 * COUNT ? matrix + 8 * rows[t] : (const u16*)5;         \
    asm volatile("stmatrix.sync.aligned.m8n8.x" #COUNT TRANS ".b16 [%4], " REGISTERS \
                 ";" ::"r"(in[4 * t]),                                               \
                 "r"(in[4 * t + 1]), "r"(in[4 * t + 2]), "r"(in[4 * t + 3]), "l"(at) \
                 : "memory");                                                        \
    __syncthreads();                                                                 \
    for (u32 i = t; i < 64 * 8; i += blockDim.x) out[i] = matrix[i];                 \
  }

STORE(store_1, 1, "", "{%0}")
STORE(store_2, 2, "", "{%0, %1}")
STORE(store_4, 4, "", "{%0, %1, %2, %3}")
STORE(store_1_trans, 1, ".trans", "{%0}")
STORE(store_2_trans, 2, ".trans", "{%0, %1}")
STORE(store_4_trans, 4, ".trans", "{%0, %1, %2, %3}")

extern "C" __global__ void transpose(const u32* in, u32* out) {
  const u32 t = threadIdx.x;
  u32 result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(in[t]));
  out[t] = result;
}
