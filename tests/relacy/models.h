// Models of the runtime's lock-free algorithms, for Relacy, which tries the interleavings and the
// results of loads that C++'s memory model permits. A model repeats the accesses of the functions
// that it names, with their orders, and stands for what it leaves out by plain variables, whose
// races Relacy finds.
#pragma once

#include <ostream>

#include <relacy/relacy.hpp>

namespace km::relacy {

/// A model is of the code as it is, or has an order that is too weak, to show that the checker sees
/// it.
enum class Orders { as_they_are, too_weak };

/// Runs a model with random schedules; true if no run found a fault.
template <class Model>
bool holds(unsigned iterations) {
  rl::test_params params;
  params.iteration_count = iterations;
  params.search_type = rl::random_scheduler_type;
  std::ostream nowhere(nullptr);  // Relacy's own memory is not for a stream that grows
  params.output_stream = &nowhere;
  params.progress_stream = &nowhere;
  return rl::simulate<Model>(params);
}

}  // namespace km::relacy
