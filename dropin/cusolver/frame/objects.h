// Objects of programs beside the handles.
#pragma once

#include <mutex>
#include <vector>

#include "dropin/cusolver/frame/handle.h"

namespace km::cusolver {

/// Settings of the Jacobi methods, and what their last call left. LAPACK's methods run in their
/// place, so that the settings are only kept.
struct JacobiInfo {
  std::atomic<double> tolerance{0}, residual{0};
  std::atomic<int> most_sweeps{100}, sorts{1};
  std::atomic<bool> is_batch{false};
};
/// A syevjInfo_t.
struct SyevjInfo : JacobiInfo {
  static constexpr HandleKind kKind = HandleKind::kSyevjInfo;
};
/// A gesvdjInfo_t.
struct GesvdjInfo : JacobiInfo {
  static constexpr HandleKind kKind = HandleKind::kGesvdjInfo;
};

/// A cusolverDnParams_t: algorithms that the program has asked for, of which there is one each.
struct SolverParams {
  static constexpr HandleKind kKind = HandleKind::kSolverParams;
};

/// A cusolverDnIRSParams_t. Systems are solved in the main precision at once, so that the other
/// settings are only kept.
struct RefinementParams {
  static constexpr HandleKind kKind = HandleKind::kRefinementParams;
  std::atomic<int> main_precision{0}, lowest_precision{0};
  std::atomic<int> refinement{CUSOLVER_IRS_REFINE_NOT_SET};
  std::atomic<int> most_iterations{50}, most_inner_iterations{50};
  std::atomic<double> tolerance{0}, inner_tolerance{0};
  std::atomic<bool> has_fallback{true};
};

/// A cusolverDnIRSInfos_t: what one call of a solver left.
struct RefinementInfos {
  static constexpr HandleKind kKind = HandleKind::kRefinementInfos;
  std::mutex mutex;  // guards the members below
  bool wants_residual = false;
  int iterations = 0, most_iterations = 0;
  std::vector<float> history_f32;   // norms of residuals, by columns
  std::vector<double> history_f64;  // one of the two is filled
};

}  // namespace km::cusolver
