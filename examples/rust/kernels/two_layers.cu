// h = max(h + bias, 0), for each row of h
extern "C" __global__ void bias_relu(double* h, const double* bias, int count, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) h[i] = fmax(h[i] + bias[i % columns], 0.0);
}
// The derivative of the above: what did not go through gets no gradient.
extern "C" __global__ void relu_gradient(double* gradient, const double* h, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && h[i] <= 0) gradient[i] = 0;
}
