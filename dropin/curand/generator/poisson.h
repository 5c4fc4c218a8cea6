// Tables of Poisson distributions, for generators and for curand_discrete() of the device API.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/generator/generator.h"

namespace km::curand {

constexpr double kMostPoissonMean = 400000;
constexpr double kMostTableMean = 2000;  // tables are for smaller means
constexpr uint32_t kMostTableEntries = 4096;

/// A PoissonTable's arrays, with the entry for the number 1.
struct Histogram {
  std::vector<double> bounds;
  std::vector<uint32_t> indices;
  uint32_t length = 0, shift = 0;
};

/// The table has all counts whose probabilities are no zeros as f64.
Histogram poisson_histogram(double mean);

/// The method by which a generator of the kind makes numbers of the mean.
Distribution poisson_method(int kind, double mean);

/// Puts a distribution into device memory, which curand_discrete() reads.
curandStatus_t create_poisson(curandDiscreteDistribution_t* out, double mean);
/// CURAND_STATUS_NOT_INITIALIZED for what create_poisson() has not made.
curandStatus_t destroy_distribution(curandDiscreteDistribution_t distribution);

}  // namespace km::curand
