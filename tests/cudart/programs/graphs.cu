// Graphs that kernels launch: one that launches itself until its work is done, one beside it and
// one after it.
#include <cstdio>

#define OK(call)                                            \
  do {                                                      \
    const cudaError_t error = (call);                       \
    if (error != cudaSuccess) {                             \
      printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                             \
    }                                                       \
  } while (false)

__global__ void add(unsigned* sum, unsigned value) { atomicAdd(sum, value); }

__global__ void repeat(unsigned* sum, unsigned* left) {
  *sum += 10;
  if (--*left == 0) return;
  const cudaError_t error = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  if (error != cudaSuccess) *sum = 1u << 31;
}

__global__ void start(cudaGraphExec_t child, cudaGraphExec_t sibling, cudaGraphExec_t tail,
                      unsigned* failed) {
  *failed += cudaGraphLaunch(child, cudaStreamGraphFireAndForget) != cudaSuccess;
  *failed += cudaGraphLaunch(sibling, cudaStreamGraphFireAndForgetAsSibling) != cudaSuccess;
  *failed += cudaGraphLaunch(tail, cudaStreamGraphTailLaunch) != cudaSuccess;
  *failed += cudaGraphLaunch(tail, 0) != cudaErrorInvalidValue;
  *failed += cudaGetLastError() != cudaErrorInvalidValue;
}

template <class... Arguments>
int make(cudaStream_t stream, cudaGraphExec_t* out, unsigned flags, void (*kernel)(Arguments...),
         Arguments... arguments) {
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  kernel<<<1, 1, 0, stream>>>(arguments...);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(out, graph, flags));
  if (flags != 0) OK(cudaGraphUpload(*out, stream));
  OK(cudaGraphDestroy(graph));
  return 0;
}

int main() {
  constexpr unsigned kFlags = cudaGraphInstantiateFlagDeviceLaunch;
  unsigned *words, got[4] = {0, 100, 0, 0};
  cudaStream_t stream;
  cudaGraphExec_t child, sibling, tail, first;
  OK(cudaMalloc(&words, sizeof got));
  OK(cudaMemcpy(words, got, sizeof got, cudaMemcpyHostToDevice));
  OK(cudaStreamCreate(&stream));
  if (make(stream, &child, kFlags, add, words, 1u) != 0) return 1;
  if (make(stream, &sibling, kFlags, add, words, 2u) != 0) return 1;
  if (make(stream, &tail, kFlags, repeat, words, words + 1) != 0) return 1;
  if (make(stream, &first, 0u, start, child, sibling, tail, words + 2) != 0) return 1;
  OK(cudaGraphLaunch(first, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
  printf("sum %u left %u failed %u\n", got[0], got[1], got[2]);
  return 0;
}
