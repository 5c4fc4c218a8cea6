// Compares the engine with the reference, every variant of every computing instruction:
//   km_conformance [--every=N] [--inputs=N] [--seed=N] [--filter=TEXT] [--write-refused]
//   km_conformance --sweep=STEP [--every=N] [--seed=N] [--filter=TEXT] [--ending=TEXT]
//   km_conformance --write-compared
// --every takes one variant in N, another one for each seed; --filter those whose text
// holds it, --ending those whose mnemonic ends with it (cvt and .f32: conversions of f32);
// --sweep every STEP-th input (1: all) of instructions with one operand of at most 32 bits. Exits
// with 77 where the machine lacks the vector instructions that KM_CPU_ISA asks for.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compared.h"
#include "harness/session.h"
#include "refused.h"
#include "runner.h"
#include "sweep.h"

namespace km::reference {
namespace {

struct Options {
  uint64_t every = 1, inputs = 1024, seed = 1, sweep = 0;
  std::string filter, ending;
  bool write_refused = false, write_compared = false;
};

bool read_text(const char* argument, const char* name, std::string& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  value = argument + length;
  return true;
}

bool read_number(const char* argument, const char* name, uint64_t& value) {
  std::string text;
  if (!read_text(argument, name, text)) return false;
  value = std::strtoull(text.c_str(), nullptr, 0);
  return true;
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const char* argument = arguments[i];
    if (std::strcmp(argument, "--write-refused") == 0) options.write_refused = true;
    if (std::strcmp(argument, "--write-compared") == 0) options.write_compared = true;
    const bool known = read_text(argument, "--filter=", options.filter) ||
                       read_text(argument, "--ending=", options.ending) ||
                       read_number(argument, "--every=", options.every) ||
                       read_number(argument, "--inputs=", options.inputs) ||
                       read_number(argument, "--seed=", options.seed) ||
                       read_number(argument, "--sweep=", options.sweep);
    if (!known && std::strncmp(argument, "--write-", 8) != 0) {
      std::fprintf(stderr, "unknown argument %s\n", argument);
      std::exit(2);
    }
  }
  return options;
}

std::vector<Variant> chosen_variants(std::vector<Variant> all, const Options& options) {
  std::vector<Variant> chosen;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool named = all[i].text.find(options.filter) != std::string::npos &&
                       all[i].mnemonic.ends_with(options.ending);
    if (named && (i + options.seed) % options.every == 0) chosen.push_back(std::move(all[i]));
  }
  return chosen;
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

int finish(const Report& report, const std::vector<std::string>& failures) {
  for (const std::string& line : failures) std::printf("%s\n", line.c_str());
  std::printf("%llu variants, %llu results compared, %zu refused, %zu failures\n",
              static_cast<unsigned long long>(report.variants),
              static_cast<unsigned long long>(report.results), report.refused.size(),
              failures.size());
  return failures.empty() ? 0 : 1;
}

int run(const Options& options) {
  const std::vector<Variant> all = all_variants();
  const std::set<std::string> compared = compared_forms(all, KM_REFUSED_FORMS);
  if (options.write_compared) {
    write_compared_forms(compared, KM_COMPARED_FORMS);
    return 0;
  }
  const std::vector<Variant> variants = chosen_variants(all, options);
  if (options.sweep != 0) {
    const Report report = sweep_variants(variants, options.sweep);
    return finish(report, report.mismatches);
  }
  const Report report = run_variants(variants, options.inputs, options.seed);
  std::vector<std::string> failures = report.mismatches;
  const RefusedList refused(variants, report.refused);
  if (options.write_refused) {
    refused.write(KM_REFUSED_FORMS);
  } else {
    append(failures, refused.differences(KM_REFUSED_FORMS));
    append(failures, compared_differences(compared, KM_COMPARED_FORMS));
  }
  return finish(report, failures);
}

}  // namespace
}  // namespace km::reference

int main(int count, char** arguments) {
  setenv("KM_CPU_CC", "10.0", 0);  // runs newer forms beside those of sm_90
  try {
    km::kernels::session();
  } catch (const km::kernels::Failure& failure) {
    std::printf("%s\n", failure.what());
    return 77;
  }
  return km::reference::run(km::reference::read_options(count, arguments));
}
