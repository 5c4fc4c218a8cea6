// Prices of European options.
#pragma OPENCL FP_CONTRACT ON
float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float polynomial =
      k * (0.31938153f +
           k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * exp(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float* prices, __global const float* strikes,
                            __global const float* years, __global float* calls,
                            __global float* puts, float rate, float volatility, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float price = prices[i], strike = strikes[i], time = years[i];
  const float root = sqrt(time);
  const float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * time) /
                   (volatility * root);
  const float d2 = d1 - volatility * root;
  const float normal1 = normal(d1), normal2 = normal(d2);
  const float discounted = strike * exp(-rate * time);
  calls[i] = price * normal1 - discounted * normal2;
  puts[i] = discounted * (1.0f - normal2) - price * (1.0f - normal1);
}
