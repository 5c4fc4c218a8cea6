// A graph whose first kernel says what the others do: with which value and grid, and if at all.
#include <cstdio>

#define OK(call)                                            \
  do {                                                      \
    const cudaError_t error = (call);                       \
    if (error != cudaSuccess) {                             \
      printf("%s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                             \
    }                                                       \
  } while (false)

constexpr int kWorkers = 8, kRounds = 4;

struct Step {
  unsigned value, factor;
};

__global__ void work(unsigned* sum, bool, Step step) { atomicAdd(sum, step.value * step.factor); }

/// In round r worker w adds w + r on r + 1 blocks, but for the workers that the round leaves out.
__global__ void plan(cudaGraphDeviceNode_t* nodes, unsigned* round, unsigned* failed) {
  const unsigned worker = threadIdx.x, now = *round;
  const Step step{worker + now, 1};
  const cudaGraphDeviceNode_t node = nodes[worker];
  cudaError_t error = cudaGraphKernelNodeSetEnabled(node, worker % kRounds != now);
  if (worker % 2 == 0) {
    if (error == cudaSuccess) error = cudaGraphKernelNodeSetParam(node, 12, step);
    if (error == cudaSuccess) error = cudaGraphKernelNodeSetGridDim(node, dim3(now + 1));
  } else {
    cudaGraphKernelNodeUpdate updates[2] = {{node, cudaGraphKernelNodeFieldGridDim, {{}}},
                                            {node, cudaGraphKernelNodeFieldParam, {{}}}};
    updates[0].updateData.gridDim = dim3(1, now + 1);
    updates[1].updateData.param.pValue = &step;
    updates[1].updateData.param.offset = 12;
    updates[1].updateData.param.size = sizeof step;
    if (error == cudaSuccess) error = cudaGraphKernelNodeUpdatesApply(updates, 2);
  }
  if (error != cudaSuccess) atomicAdd(failed, 1);
  if (cudaGraphKernelNodeSetParam(node, 16, step) != cudaErrorInvalidValue) atomicAdd(failed, 1);
  if (cudaGetLastError() != cudaErrorInvalidValue) atomicAdd(failed, 1);
  __syncthreads();
  if (worker == 0) ++*round;
}

int main() {
  cudaGraphDeviceNode_t *nodes, handles[kWorkers];
  unsigned *words, got[3] = {0, 0, 0};
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  OK(cudaMalloc(&nodes, sizeof handles));
  OK(cudaMalloc(&words, sizeof got));
  OK(cudaMemset(words, 0, sizeof got));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  plan<<<1, kWorkers, 0, stream>>>(nodes, words + 1, words + 2);
  for (cudaGraphDeviceNode_t& handle : handles) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
    attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, work, words, true, Step{1000, 1000}));
    handle = attribute.val.deviceUpdatableKernelNode.devNode;
  }
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaMemcpy(nodes, handles, sizeof handles, cudaMemcpyHostToDevice));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphUpload(exec, stream));
  unsigned want = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    for (unsigned worker = 0; worker < kWorkers; ++worker) {
      if (worker % kRounds != round) want += (worker + round) * (round + 1);
    }
    OK(cudaGraphLaunch(exec, stream));
  }
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
  printf("sum %u of %u rounds %u failed %u\n", got[0], want, got[1], got[2]);
  return 0;
}
