#include <cmath>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "checks.h"
#include "disassembly.h"
#include "module_text.h"

namespace km::machine_code {
namespace {

using Programs = std::map<std::string, std::shared_ptr<const simt::Program>>;

/// The program of a source below bench/kernels, which is compiled once.
Result<const simt::Program*> program_of(const std::string& source, Programs* programs) {
  std::shared_ptr<const simt::Program>& program = (*programs)[source];
  if (!program) {
    const std::string path = std::string(KM_SOURCES) + "/bench/kernels/" + source;
    KM_ASSIGN(program, code_hashes::load(code_hashes::read_module(path, source, {})));
  }
  return program.get();
}

Result<size_t> count(const simt::Program& program, const std::string& kernel,
                     const std::string& block, const char* machine) {
  simt::Variant variant;
  variant.machine = simt::Machine::of_name(machine).value();
  if (std::sscanf(block.c_str(), "%u,%u,%u", &variant.block[0], &variant.block[1],
                  &variant.block[2]) != 3) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "block '%s': expected X,Y,Z", block.c_str());
  }
  for (uint32_t i = 0; i < program.kernels().size(); ++i) {
    if (program.kernels()[i].name != kernel) continue;
    KM_ASSIGN(const simt::Object object, simt::compile(program, i, variant));
    KM_ASSIGN(const auto instructions, disassemble(object, variant.machine));
    return instructions.size();
  }
  return make_error(KM_ERROR_NOT_FOUND, "there is no kernel '%s'", kernel.c_str());
}

/// Compares a count with the table's, which it replaces.
void compare(const std::string& what, size_t now, std::string* column, std::string* differences) {
  const double most = std::atof(column->c_str()) * kSlack;
  if (static_cast<double>(now) > most) {
    *differences += what + " has " + std::to_string(now) + " instructions; the table has " +
                    (column->empty() ? "none" : *column) + "\n";
  }
  *column = std::to_string(now);
}

}  // namespace

Result<Outcome> check_counts(const Table& table) {
  Outcome outcome{{}, table};
  Programs programs;
  double logarithms = 0;
  for (auto& row : outcome.now.rows) {
    KM_ASSIGN(const simt::Program* const program, program_of(row[0], &programs));
    KM_ASSIGN(const size_t avx2, count(*program, row[1], row[2], "avx2"));
    KM_ASSIGN(const size_t neon, count(*program, row[1], row[2], "neon"));
    compare(row[1] + " for avx2", avx2, &row[3], &outcome.differences);
    compare(row[1] + " for neon", neon, &row[4], &outcome.differences);
    logarithms += std::log(static_cast<double>(neon) / static_cast<double>(avx2));
  }
  const double ratio = std::exp(logarithms / static_cast<double>(table.rows.size()));
  std::printf("NEON has %.3f times as many instructions as AVX2, in geometric mean\n", ratio);
  if (ratio > kMostRatio) {
    outcome.differences += "that is above " + std::to_string(kMostRatio) + "\n";
  }
  return outcome;
}

}  // namespace km::machine_code
