// The approximate instructions of PTX and the errors that the manual allows them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace km::reference {

/// How an error is counted: as it is, by the exact value, or in units of its last place in f32.
enum class Measure : uint8_t { absolute, relative, ulp };

/// One instruction of one f32 operand on a part of its inputs.
struct Case {
  const char* instruction;
  const char* inputs;  // in words
  Measure measure;
  double bound;
  const char* bound_text;
  bool (*contains)(float x);
  float (*value)(float x);
  double (*exact)(double x);
};

std::vector<Case> f32_cases();

/// Instructions whose inputs are too many, or so few that the reference interpreter does: a line
/// of the table is made by a function of its own.
struct Row {
  std::string instruction, inputs, error, bound;
  bool within = true;
};

std::vector<Row> half_rows();
std::vector<Row> f64_rows(uint64_t count);
std::vector<Row> division_rows(uint64_t count);

/// "2^-22.93 absolute", "0.51 ulp"
std::string error_text(Measure measure, double error);
/// The distance from the exact value; infinite where only one of them is a number.
double error_of(Measure measure, float got, double exact);

/// The largest relative error of the host's f64 functions, which the cases take for exact, against
/// MPFR on `count` points each.
double host_error(uint64_t count);

}  // namespace km::reference
