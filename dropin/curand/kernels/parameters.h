// Parameters of cuRAND's kernels: read by the compiler of the kernels and by ours.
#pragma once

namespace km::curand {

constexpr int kSequences = 4096;  // a generator's numbers come from them in turn
constexpr int kStateWords = 6;

enum GeneratorKind {
  kXorwow = 1,
  kMrg32k3a = 2,
  kPhilox = 3,
  kMtgp32 = 4,
  kSobol32 = 5,
  kScrambledSobol32 = 6,
  kSobol64 = 7,
  kScrambledSobol64 = 8
};
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

/// Points of a Sobol sequence: `count` of each dimension, one dimension after the other.
struct SobolParameters {
  unsigned long long directions;  // 32 or 64 words of as many bits for each dimension
  unsigned long long scrambles;   // a word for each dimension
  unsigned long long out;
  unsigned long long count, first;  // the number of the first point
  double mean, deviation;           // of Poisson: mean
  int distribution;
  int thread_bits;  // 2^thread_bits threads make the points of a dimension
};

constexpr int kMtgpWords = 351;  // of a state
constexpr int kMtgpStep = 256;   // numbers that a block of so many threads makes at once

/// One set of MTGP32's parameters; a table's other entries are sums of these without carries.
struct MtgpSet {
  unsigned pick_up, left, right;
  unsigned recursion[4], tempering[4];
};

/// Block p makes the numbers of sequence p: kMtgpStep of each sequence in turn.
struct MtgpParameters {
  unsigned long long states;  // kMtgpWords of each sequence
  unsigned long long sets;    // one MtgpSet for each sequence
  unsigned long long out;
  unsigned long long count, first;  // the number of the first one among all of the generator
  double mean, deviation;           // of Poisson: mean
  int distribution;
};

}  // namespace km::curand
