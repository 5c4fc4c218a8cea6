// Parameters of cuRAND's kernels, shared between their CUDA source and the host code.
#pragma once

namespace km::curand {

constexpr int kStateWords = 8;  // word w of sequence t is at index w * sequences + t

enum GeneratorKind {
  kXorwow = 1,
  kMrg32k3a = 2,
  kPhilox = 3,
  kMtgp32 = 4,
  kMt19937 = 5,
  kSobol32 = 6,
  kScrambledSobol32 = 7,
  kSobol64 = 8,
  kScrambledSobol64 = 9
};
enum Distribution {
  kBits = 0,
  kUniform = 1,
  kUniformDouble = 2,
  kNormal = 3,
  kNormalDouble = 4,
  kLogNormal = 5,
  kLogNormalDouble = 6,
  kPoissonTable = 7,    // by a table, for small means
  kPoissonInverse = 8,  // by the inverse of the distribution function
  kPoissonNormal = 9    // from a normal number, for large means
};

/// Marsaglia, Tsang and Wang's square histogram. Entry j covers uniform numbers from j / length to
/// (j + 1) / length; an additional entry covers the number 1.
struct PoissonTable {
  unsigned long long bounds;   // f64: a uniform number below it gives shift + j
  unsigned long long indices;  // u32: other uniform numbers give shift + this
  unsigned length, shift;
};

/// Adds to a generator's position on the device, from which repeated launches of a graph find out
/// where the previous call ended.
struct CountParameters {
  unsigned long long counter;  // address of a u64
  unsigned long long count;    // to be added
};

/// Generation of numbers. A draw is one step of a sequence: a number or a pair, or four numbers of
/// Philox.
struct GenerateParameters {
  unsigned long long states;  // kStateWords per sequence; Philox: a 64-bit counter
  unsigned long long out;
  unsigned long long count, draws;
  unsigned long long seed;
  double mean, deviation;
  PoissonTable table;
  unsigned long long counter;  // address of a u64, the position, in place of turn and lead; or 0
  unsigned sequences;          // number of sequences, used in turn
  unsigned turn;               // the sequence of the first draw
  unsigned lead;               // Philox: numbers of the first draw that an earlier call has used
  unsigned is_log;             // log-normal: the logarithms of the results are normal
};

/// Points of a Sobol sequence: `count` per dimension, one dimension after the other.
struct SobolParameters {
  unsigned long long directions;  // per dimension: 32 words of 32 bits or 64 words of 64 bits
  unsigned long long scrambles;   // one word per dimension
  unsigned long long out;
  unsigned long long count, first;  // first: the index of the first point
  unsigned long long counter;       // address of a u64 in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
  int distribution;
  int thread_bits;  // 2^thread_bits threads compute the points of a dimension
};

constexpr int kMtgpWords = 351;  // words of an MTGP32 state
constexpr int kMtgpStep = 256;   // numbers that a block with one thread per number makes at once

/// A parameter set of MTGP32; the other entries of a table are exclusive-or sums of these.
struct MtgpSet {
  unsigned pick_up, left, right;
  unsigned recursion[4], tempering[4];
};

/// Block p generates the numbers of sequence p; sequences take turns of kMtgpStep numbers.
struct MtgpParameters {
  unsigned long long states;  // kMtgpWords per sequence
  unsigned long long sets;    // one MtgpSet per sequence
  unsigned long long out;
  // first: the index of the first number in the generator's output
  unsigned long long count, first;
  unsigned long long counter;  // address of a u64 in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
  int distribution;
};

constexpr int kTwisterWords = 624;       // words of an MT19937 state, and its numbers per cycle
constexpr int kTwisterSequences = 8192;  // take turns of kTwisterLanes numbers
constexpr int kTwisterLanes = 8;
constexpr int kTwisterRounds = kTwisterWords / kTwisterLanes;  // turns per cycle
constexpr int kTwisterGroup = 8;                               // sequences per block
constexpr int kTwisterThreads = 256;

/// MT19937's numbers. A block generates those of kTwisterGroup sequences; block 0 has the group
/// with the first number. All groups take part in a call that ends in another cycle of the states.
struct TwisterParameters {
  unsigned long long states;  // kTwisterWords per sequence
  unsigned long long out;
  // first: the index of the first number in the generator's output
  unsigned long long count, first;
  unsigned long long counter;  // address of a u64 in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
  int distribution;
};

/// Computes the states of sequences from `known` on from those of sequences 0 and up, by a jump:
/// the power of x whose terms are given determines the number of steps.
struct JumpParameters {
  unsigned long long states;
  unsigned long long terms;   // u16: exponents in ascending order
  unsigned long long bounds;  // u32: the index of the first term for each kTwisterWords exponents
  unsigned known;
};

}  // namespace km::curand
