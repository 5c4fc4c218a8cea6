// A network of two inputs, 16 hidden numbers and one output. Its parameters lie one after the
// other: 16 x 2 weights, 16 biases, 16 weights of the output, its bias.
constexpr int kHidden = 16, kParameters = 4 * kHidden + 1;

// The gradient of the squared error of `count` samples, and behind it the error: each thread adds
// one parameter's, sample by sample.
extern "C" __global__ void gradient(const float* parameters, const float* samples, int count,
                                    float* out) {
  const int mine = threadIdx.x;
  if (mine > kParameters) return;
  float sum = 0;
  for (int s = 0; s < count; ++s) {
    const float x = samples[3 * s], y = samples[3 * s + 1], target = samples[3 * s + 2];
    float output = parameters[4 * kHidden], hidden[kHidden], slope[kHidden];
    for (int h = 0; h < kHidden; ++h) {
      const float z =
          parameters[2 * h] * x + parameters[2 * h + 1] * y + parameters[2 * kHidden + h];
      const float scale = 1.0f / (1.0f + fabsf(z));
      hidden[h] = z * scale;
      slope[h] = scale * scale;
      output += parameters[3 * kHidden + h] * hidden[h];
    }
    const float error = output - target;
    const int h = mine < 2 * kHidden ? mine / 2 : mine % kHidden;
    const float back = error * parameters[3 * kHidden + h] * slope[h];
    if (mine == kParameters) {
      sum += error * error;
    } else if (mine < 2 * kHidden) {
      sum += back * (mine % 2 == 0 ? x : y);
    } else if (mine < 3 * kHidden) {
      sum += back;
    } else {
      sum += error * (mine < 4 * kHidden ? hidden[h] : 1.0f);
    }
  }
  out[mine] = sum;
}

// One step against the gradient.
extern "C" __global__ void step(float* parameters, const float* gradients, float rate) {
  const int mine = threadIdx.x;
  if (mine < kParameters) parameters[mine] -= rate * gradients[mine];
}
