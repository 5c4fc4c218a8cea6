#include "jobs.h"

#include <string_view>

#include "base/hash.h"

namespace km::code_hashes {
namespace {

using simt::Machine;
using simt::Mode;
using simt::Variant;

/// A kind of variant, for which code differs in more than numbers.
struct Kind {
  const char* name;
  std::array<uint32_t, 3> block;
  bool assume_no_wrap, checked;
  bool in_all_modes;
};

constexpr Kind kKinds[] = {
    {"256,1,1", {256, 1, 1}, true, false, true}, {"100,1,1 checked", {100, 1, 1}, true, true, true},
    {"any", {0, 0, 0}, false, false, false},     {"row", {0, 1, 1}, true, false, false},
    {"16,8,2", {16, 8, 2}, true, false, false},  {"32,1,1 exact", {32, 1, 1}, false, false, false},
};

/// True if the object is part of a sample: by its name alone, so that kernels that come or go
/// change the choice of no other object.
bool is_chosen(const std::string& name, unsigned every) { return hash128(name).low % every == 0; }

void add_kernel(const Job& base, unsigned every, std::span<const Machine> machines,
                std::vector<Job>* jobs) {
  for (const Machine& machine : machines) {
    for (const Mode mode : {Mode::run_to_completion, Mode::fibers, Mode::independent_threads}) {
      for (const Kind& kind : kKinds) {
        if (mode != Mode::run_to_completion && !kind.in_all_modes) continue;
        Job job = base;
        job.name += " " + std::string(machine.name()) + " ";
        job.name += static_cast<char>('a' + static_cast<int>(mode) - 1);
        job.name += std::string(" ") + kind.name;
        if (!is_chosen(job.name, every)) continue;
        job.variant = {.block = kind.block,
                       .assume_no_wrap = kind.assume_no_wrap,
                       .checked = kind.checked,
                       .least_mode = mode,
                       .machine = machine};
        jobs->push_back(std::move(job));
      }
    }
  }
}

}  // namespace

std::vector<Job> jobs_of(const std::vector<ModuleText>& modules, unsigned every,
                         std::span<const Machine> machines) {
  std::vector<Job> jobs;
  for (const ModuleText& text : modules) {
    Job job;
    job.name = text.name;
    auto program = load(text);
    if (program) {
      job.program = *program;
    } else {
      job.error = program.error().message;
      jobs.push_back(std::move(job));
      continue;
    }
    for (uint32_t k = 0; k < job.program->kernels().size(); ++k) {
      Job of_kernel = job;
      of_kernel.kernel = k;
      of_kernel.name += " " + job.program->kernels()[k].name;
      add_kernel(of_kernel, every, machines, &jobs);
    }
  }
  return jobs;
}

Outcome outcome_of(const Job& job) {
  if (!job.program) return {hash128(job.error).text(), {}};
  const auto object = simt::compile(*job.program, job.kernel, job.variant);
  if (object) return {hash128(object->data(), object->size()).text(), {}};
  const std::string& message = object.error().message;
  return {hash128(message).text(), object.error().status == KM_ERROR_COMPILER ? message : ""};
}

}  // namespace km::code_hashes
