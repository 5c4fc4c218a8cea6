// Parameters of cuRAND's kernels: read by the compiler of the kernels and by ours.
#pragma once

namespace km::curand {

constexpr int kStateWords = 8;  // word w of sequence t lies at w * sequences + t

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
  kPoissonNormal = 9    // by a normal number, for large means
};

/// Marsaglia, Tsang and Wang's square histogram: entry j covers the uniform numbers from j / length
/// to (j + 1) / length, and one more entry the number 1.
struct PoissonTable {
  unsigned long long bounds;   // f64: uniform numbers below it give shift + j
  unsigned long long indices;  // u32: others give shift + this
  unsigned length, shift;
};

/// Adds to a generator's counter, from which calls that graphs repeat learn where the last call has
/// ended.
struct CountParameters {
  unsigned long long counter;  // of u64
  unsigned long long count;    // to be added
};

/// A draw is what a sequence gives at once: a number or a pair, four of Philox.
struct GenerateParameters {
  unsigned long long states;  // kStateWords of each sequence; Philox: a counter of 64 bits
  unsigned long long out;
  unsigned long long count, draws;
  unsigned long long seed;
  double mean, deviation;
  PoissonTable table;
  unsigned long long counter;  // of u64: what has been given, in place of turn and lead; or 0
  unsigned sequences;          // that take turns
  unsigned turn;               // the sequence of the first draw
  unsigned lead;               // numbers of the first draw that an earlier call has given (Philox)
  unsigned is_log;             // logarithms of what is asked for are normal
};

/// Points of a Sobol sequence: `count` of each dimension, one dimension after the other.
struct SobolParameters {
  unsigned long long directions;  // 32 or 64 words of as many bits for each dimension
  unsigned long long scrambles;   // a word for each dimension
  unsigned long long out;
  unsigned long long count, first;  // the number of the first point
  unsigned long long counter;       // of u64, in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
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
  unsigned long long counter;       // of u64, in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
  int distribution;
};

constexpr int kTwisterWords = 624;       // of a state of MT19937, which is a cycle of its numbers
constexpr int kTwisterSequences = 8192;  // which give kTwisterLanes numbers each in turn
constexpr int kTwisterLanes = 8;
constexpr int kTwisterRounds = kTwisterWords / kTwisterLanes;  // turns of a cycle
constexpr int kTwisterGroup = 8;                               // sequences of a block
constexpr int kTwisterThreads = 256;

/// Numbers of MT19937: a block makes those of kTwisterGroup sequences. Block 0 has the group of the
/// first number; all groups take part in calls that end in another cycle of the states.
struct TwisterParameters {
  unsigned long long states;  // kTwisterWords of each sequence
  unsigned long long out;
  unsigned long long count, first;  // the number of the first one among all of the generator
  unsigned long long counter;       // of u64, in place of `first`; or 0
  double mean, deviation;
  PoissonTable table;
  int distribution;
};

/// States of sequences `known` and up: those of sequences 0 and up, as many steps later as the
/// power of x says whose terms are given.
struct JumpParameters {
  unsigned long long states;
  unsigned long long terms;   // u16: exponents, ascending
  unsigned long long bounds;  // u32: where the terms of each kTwisterWords exponents begin
  unsigned known;
};

}  // namespace km::curand
