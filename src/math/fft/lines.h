// Transforms of lines: one dimension of an array, in vectors of several lines.
#pragma once

#include <cstdint>
#include <memory>

#include "math/fft/line_plan.h"

namespace km::fft {

/// The types of numbers in memory; all are computed in T.
enum class Storage : uint8_t { kHalf, kBfloat, kFloat, kDouble };

constexpr uint64_t bytes_of(Storage storage) {
  return storage == Storage::kDouble ? 8 : storage == Storage::kFloat ? 4 : 2;
}

constexpr int kMostOuter = 16;

/// An array of lines: where their numbers lie. Distances are in numbers of the side's kind, which
/// are pairs if they are complex.
struct Side {
  char* base = nullptr;
  Storage storage = Storage::kFloat;
  bool is_complex = true;
  int64_t stride = 1;           // between numbers of a line
  int64_t outer[kMostOuter]{};  // between lines, for each outer dimension
};

enum class LineKind : uint8_t { kForward, kInverse, kRealToComplex, kComplexToReal };

/// All lines of one dimension. The last outer dimension varies fastest.
template <class T>
struct LineJob {
  LineKind kind = LineKind::kForward;
  uint64_t n = 1;                           // of the real line if one side is real
  std::shared_ptr<const LinePlan<T>> plan;  // of plan_length() complex numbers
  std::shared_ptr<const std::vector<Complex<T>>> real_roots;  // n / 2 + 1 of n, if n is even
  int outer_rank = 0;
  uint64_t extents[kMostOuter]{};
  uint64_t lines = 1;
  Side in, out;

  bool is_real() const {
    return kind == LineKind::kRealToComplex || kind == LineKind::kComplexToReal;
  }
  /// Even real lines are transformed as half as many complex numbers.
  bool is_packed() const { return is_real() && n % 2 == 0; }
  uint64_t plan_length() const { return is_packed() ? n / 2 : n; }
};

/// The steps of one long line, each of which several threads may share. Lines of simple plans need
/// only columns and rows.
enum class Step : uint8_t {
  kBegin,  // makes the complex numbers that are transformed
  kColumns,
  kRows,
  kMiddle,  // multiplies the transform of a convolution
  kColumnsAgain,
  kRowsAgain,
  kEnd  // makes the line's result of the transform
};
constexpr int kSteps = 7;

/// The code for one set of instructions.
template <class T>
struct LineCode {
  uint64_t lanes;
  /// Transforms lines. `scratch` has scratch_bytes() and is aligned to 64.
  void (*run)(const LineJob<T>& job, uint64_t first, uint64_t count, void* scratch);
  uint64_t (*scratch_bytes)(const LineJob<T>& job);
  /// True if the plan is such that the job's lines are transformed one by one, in steps.
  bool (*is_long)(const LineJob<T>& job);
  bool (*has_step)(const LineJob<T>& job, Step step);
  /// Runs one of the equal parts of a step of one line. All parts of the line's steps have the same
  /// `shared` memory of shared_bytes(), and each has `scratch` memory of its own.
  void (*run_step)(const LineJob<T>& job, uint64_t line, Step step, uint64_t part, uint64_t parts,
                   void* shared, void* scratch);
  uint64_t (*shared_bytes)(const LineJob<T>& job);
  uint64_t (*step_scratch_bytes)(const LineJob<T>& job);
};

/// The code for this machine.
template <class T>
const LineCode<T>& line_code();

template <>
const LineCode<float>& line_code<float>();
template <>
const LineCode<double>& line_code<double>();

}  // namespace km::fft
