// Data-parallel training: four ranks, each with a quarter of the samples, add their gradients by an
// all-reduce. One rank that adds the gradients of the same quarters in the same order has the same
// losses and parameters, to the bit.
#include <cmath>
#include <cstdio>
#include <kernelmill/kernelmill.hpp>
#include <vector>

namespace {

constexpr std::size_t kRanks = 4, kSamples = 32, kParameters = 65, kSteps = 100;
constexpr std::size_t kResults = kParameters + 1;  // the gradient, and the error
constexpr float kRate = 0.1f / (kRanks * kSamples);

// The samples of a rank: points, and the product of their coordinates.
std::vector<float> samples_of(std::size_t rank) {
  std::vector<float> samples;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto number = static_cast<double>(rank * kSamples + i);
    const double x = std::sin(number * 1.7), y = std::sin(number * 2.3 + 1);
    samples.insert(samples.end(),
                   {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x * y)});
  }
  return samples;
}

std::vector<float> first_parameters() {
  std::vector<float> made(kParameters);
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<float>(std::sin(static_cast<double>(i) * 12.9) * 0.5);
  }
  return made;
}

// A device with the network and the samples of one rank.
struct Worker {
  explicit Worker(std::size_t rank)
      : module(km::module::load_file(context, NETWORK_FILE)),
        gradient(module.function("gradient")),
        step(module.function("step")),
        samples(km::slice<float>::copy_of(stream, samples_of(rank))),
        parameters(km::slice<float>::copy_of(stream, first_parameters())),
        results(km::slice<float>::zeroed(context, kResults)) {}

  void compute(const km::slice<float>& of, const km::slice<float>& to) const {
    stream.launch(gradient)
        .grid(1)
        .block(128)
        .args(parameters, of, static_cast<int>(kSamples), to)
        .submit();
  }
  void update() const {
    stream.launch(step).grid(1).block(128).args(parameters, results, kRate).submit();
  }

  km::context context{"auto"};
  km::stream stream{context};
  km::module module;
  km::function gradient, step;
  km::slice<float> samples, parameters, results;
};

struct Outcome {
  std::vector<float> losses, parameters;
};

Outcome train_by_ranks() {
  std::vector<Worker> workers;
  std::vector<km_context> contexts;
  for (std::size_t i = 0; i < kRanks; ++i) {
    workers.emplace_back(i);
    contexts.push_back(workers.back().context.get());
  }
  const std::vector<km::comm> ranks = km::comm::create_all(contexts);
  Outcome outcome;
  for (std::size_t s = 0; s < kSteps; ++s) {
    for (const Worker& each : workers) each.compute(each.samples, each.results);
    km::comm::group([&] {
      for (std::size_t i = 0; i < kRanks; ++i) {
        const Worker& each = workers[i];
        ranks[i].all_reduce(each.stream, each.results, each.results, kResults);
      }
    });
    for (const Worker& each : workers) each.update();
    outcome.losses.push_back(workers[0].results.to_vector(workers[0].stream)[kParameters]);
  }
  outcome.parameters = workers[kRanks - 1].parameters.to_vector(workers[kRanks - 1].stream);
  return outcome;
}

Outcome train_alone() {
  const Worker worker(0);
  std::vector<km::slice<float>> parts;
  for (std::size_t i = 0; i < kRanks; ++i) {
    parts.push_back(km::slice<float>::copy_of(worker.stream, samples_of(i)));
  }
  Outcome outcome;
  for (std::size_t s = 0; s < kSteps; ++s) {
    std::vector<float> sum;
    for (const km::slice<float>& part : parts) {
      worker.compute(part, worker.results);
      const std::vector<float> found = worker.results.to_vector(worker.stream);
      if (sum.empty()) {
        sum = found;
        continue;
      }
      for (std::size_t i = 0; i < kResults; ++i) sum[i] += found[i];
    }
    worker.results.upload(worker.stream, sum);
    worker.update();
    outcome.losses.push_back(sum[kParameters]);
  }
  outcome.parameters = worker.parameters.to_vector(worker.stream);
  return outcome;
}

}  // namespace

int main() try {
  const Outcome ranks = train_by_ranks(), alone = train_alone();
  std::printf("loss of %zu ranks: %g at first, %g after %zu steps; of one: %g\n", kRanks,
              static_cast<double>(ranks.losses.front()), static_cast<double>(ranks.losses.back()),
              kSteps, static_cast<double>(alone.losses.back()));
  const bool is_same = ranks.losses == alone.losses && ranks.parameters == alone.parameters;
  return is_same && ranks.losses.back() < ranks.losses.front() / 2 ? 0 : 1;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
