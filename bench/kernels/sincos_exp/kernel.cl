__kernel void sincos_exp(__global const float* x, __global float* y, int n) {
  const int i = get_global_id(0);
  if (i < n) y[i] = sin(x[i]) + exp(x[i]);
}
