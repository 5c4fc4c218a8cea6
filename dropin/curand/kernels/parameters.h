// Parameters of cuRAND's kernels: read by the compiler of the kernels and by ours.
#pragma once

namespace km::curand {

constexpr int kSequences = 4096;  // a generator's numbers come from them in turn
constexpr int kStateWords = 6;

enum GeneratorKind { kXorwow = 1, kMrg32k3a = 2, kPhilox = 3 };
enum Distribution {
  kBits = 0,
  kUniform = 1,
  kUniformDouble = 2,
  kNormal = 3,
  kNormalDouble = 4,
  kLogNormal = 5,
  kLogNormalDouble = 6,
  kPoisson = 7
};

struct GenerateParameters {
  unsigned long long states;  // kStateWords of each sequence; Philox: none
  unsigned long long out;
  unsigned long long count, first;  // the number of the first one among all of the generator
  unsigned long long seed;
  double mean, deviation;  // of Poisson: mean
  int kind, distribution;
};

}  // namespace km::curand
