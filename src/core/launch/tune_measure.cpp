// Measures candidates in a context that is destroyed if one of them makes it unusable.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "core/launch/tune.h"
#include "core/object/callback.h"
#include "core/queue/copy.h"
#include "core/stream/event.h"

namespace km {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t nanoseconds_since(Clock::time_point start) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

template <class T>
T element_at(const std::vector<std::byte>& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

/// The index of the first element that differs by more than the tolerance: relative to the larger
/// magnitude, or absolute if that is below 1. SIZE_MAX: none differs.
template <class T>
size_t first_difference(const std::vector<std::byte>& one, const std::vector<std::byte>& other,
                        double tolerance) {
  for (size_t i = 0; i < one.size() / sizeof(T); ++i) {
    const T a = element_at<T>(one, i), b = element_at<T>(other, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double size = std::max({1.0, std::fabs(double{a}), std::fabs(double{b})});
    if (!(std::fabs(double{a} - double{b}) <= tolerance * size)) return i;
  }
  return SIZE_MAX;
}

size_t first_different_byte(const std::vector<std::byte>& one,
                            const std::vector<std::byte>& other) {
  const auto at = std::mismatch(one.begin(), one.end(), other.begin()).first;
  return at == one.end() ? SIZE_MAX : static_cast<size_t>(at - one.begin());
}

}  // namespace

/// A context with the buffers that the kernel uses. It is destroyed if a candidate makes it
/// unusable.
struct Tune::Session {
  Ref<Context> context;
  Ref<Stream> stream;
  Ref<Event> start, end;
  std::vector<Ref<Slice>> buffers;    // by argument; null for scalars
  std::vector<Ref<Launch>> launches;  // by candidate; null: not created in this context
};

Result<Tune::Session> Tune::open_session() const {
  Session session;
  KM_ASSIGN(session.context, Context::create(device_));
  KM_ASSIGN(session.stream, Stream::create(*session.context, KM_STREAM_DEFAULT, 0));
  KM_ASSIGN(session.start, Event::create(*session.context, KM_EVENT_DEFAULT));
  KM_ASSIGN(session.end, Event::create(*session.context, KM_EVENT_DEFAULT));
  for (const Argument& argument : arguments_) {
    Ref<Slice> slice;
    if (argument.is_buffer) {
      KM_ASSIGN(slice, Slice::create(*session.context, nullptr, argument.bytes.size(), 1,
                                     KM_SLICE_DEFAULT));
    }
    session.buffers.push_back(std::move(slice));
  }
  session.launches.resize(candidates_.size());
  return session;
}

Status Tune::upload(Session& session) const {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].is_buffer) continue;
    Slice& slice = *session.buffers[i];
    KM_TRY(km::upload(*session.stream, {&slice.memory(), slice.address()},
                      arguments_[i].bytes.data(), arguments_[i].bytes.size()));
  }
  return {};
}

Result<Ref<Launch>> Tune::launch_of(Session& session, const Candidate& candidate) {
  KM_TRY(check_shape(*device_, candidate.shape));
  KM_ASSIGN(const Ref<Function> function, load(*session.context, candidate));
  KM_TRY(function->prepare(candidate.shape.block));
  KM_ASSIGN(Ref<Launch> launch, Launch::create(*session.stream, *function));
  launch->set_grid(candidate.shape.grid);
  launch->set_block(candidate.shape.block);
  launch->set_shared_bytes(candidate.shape.shared_bytes);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const std::vector<std::byte>& bytes = arguments_[i].bytes;
    KM_TRY(arguments_[i].is_buffer
               ? launch->add_slice({.slice = session.buffers[i].get()})
               : launch->add_value(bytes.data(), GivenValue::of_bytes(bytes.size())));
  }
  return launch;
}

/// Compares the outputs with the first candidate's, or stores them if this is the first.
Status Tune::check_results(Session& session) {
  const bool is_first = expected_.empty();
  std::vector<std::vector<std::byte>> left;  // the first candidate's outputs: all of them, or none
  size_t output = 0;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].is_output) continue;
    Slice& slice = *session.buffers[i];
    std::vector<std::byte> seen(slice.size_bytes());
    KM_TRY(download(*session.stream, {&slice.memory(), slice.address()}, seen.data(), seen.size()));
    if (is_first) {
      left.push_back(std::move(seen));
      continue;
    }
    KM_ASSERT(output < expected_.size() && seen.size() == expected_[output].size(),
              "the first candidate's outputs were kept as a whole");
    const std::vector<std::byte>& wanted = expected_[output++];
    size_t at = SIZE_MAX;
    if (check_ == KM_TUNE_CHECK_EXACT) at = first_different_byte(seen, wanted);
    if (check_ == KM_TUNE_CHECK_F32) at = first_difference<float>(seen, wanted, tolerance_);
    if (check_ == KM_TUNE_CHECK_F64) at = first_difference<double>(seen, wanted, tolerance_);
    if (at == SIZE_MAX) continue;
    return make_error(KM_ERROR_RESULT_MISMATCH,
                      "%s %zu of the buffer that is argument %zu differs from what %s left there",
                      check_ == KM_TUNE_CHECK_EXACT ? "byte" : "element", at, i,
                      expected_of_.c_str());
  }
  if (is_first) expected_ = std::move(left);
  return {};
}

Status Tune::launch_once(uint32_t candidate, TunePlan* plan, Session& session) {
  KM_ASSIGN(const MayBlock may_block, require_may_block());
  Ref<Launch>& launch = session.launches[candidate];
  if (!launch) {
    KM_ASSIGN(launch, launch_of(session, candidates_[candidate]));
  }
  Stream& stream = *session.stream;
  const Clock::time_point start = Clock::now();
  KM_TRY(session.start->record(stream));
  KM_TRY(launch->submit());
  KM_TRY(session.end->record(stream));
  KM_TRY(stream.synchronize(may_block, KMB_WAIT_FOREVER));
  KM_ASSIGN(const int64_t elapsed_ns, session.start->elapsed_ns(*session.end));
  plan->add(candidate, static_cast<uint64_t>(std::max<int64_t>(elapsed_ns, 0)),
            nanoseconds_since(start));
  return {};
}

Status Tune::try_one(uint32_t candidate, TunePlan* plan, Session& session) {
  if (expected_.empty()) expected_of_ = "candidate " + std::to_string(candidate);
  KM_ASSIGN(session.launches[candidate], launch_of(session, candidates_[candidate]));
  KM_TRY(upload(session));
  KM_TRY(launch_once(candidate, plan, session));
  return check_ != KM_TUNE_CHECK_OFF ? check_results(session) : Status();
}

bool Tune::is_usable(const Session& session) {
  const Result<MayBlock> may_block = require_may_block();
  return may_block && session.stream->synchronize(*may_block, KMB_WAIT_FOREVER);
}

void Tune::attempt(uint32_t candidate, TunePlan* plan, std::optional<Session>* session,
                   Status (Tune::*work)(uint32_t candidate, TunePlan* plan, Session& session)) {
  Status status;
  if (!*session) {
    Result<Session> opened = open_session();
    if (opened) {
      status = upload(session->emplace(std::move(*opened)));
    } else {
      status = std::move(opened.error());
    }
  }
  if (status) status = (this->*work)(candidate, plan, **session);
  if (status) return;
  plan->leave_out(candidate);
  candidates_[candidate].result = {};
  candidates_[candidate].result.status = status.error().status;
  candidates_[candidate].message = std::move(status.error().message);
  // A context in which a kernel faulted is not used for other candidates.
  if (*session && !is_usable(**session)) session->reset();
}

Status Tune::try_all(TunePlan* plan, std::optional<Session>* session) {
  const auto count = static_cast<uint32_t>(candidates_.size());
  for (uint32_t i = 0; i < count; ++i) {
    candidates_[i].result = {};
    candidates_[i].message.clear();
    attempt(i, plan, session, &Tune::try_one);
    if (progress_ != nullptr) {
      KM_TRY(require_returned(run_callback([&] { progress_(progress_data_, i + 1, count); })));
    }
  }
  return {};
}

void Tune::note_result(uint32_t candidate, const TunePlan& plan) {
  km_tune_result& result = candidates_[candidate].result;
  const std::string& message = candidates_[candidate].message;
  if (message.empty()) {
    const TunePlan::Summary summary = plan.summary(candidate);
    result.status = KM_SUCCESS;
    result.median_ns = summary.median_ns;
    result.min_ns = summary.min_ns;
    result.sample_count = summary.sample_count;
  }
  const std::string outcome = message.empty() ? std::to_string(result.median_ns) + " ns" : message;
  log(LogLevel::kInfo, "tune", "kernel '%s', candidate %u: %s", kernel_.c_str(), candidate,
      outcome.c_str());
}

Result<uint32_t> Tune::measure_all() {
  const auto count = static_cast<uint32_t>(candidates_.size());
  TunePlan plan(count, budget_ns_, 1 + warmup_count_);
  std::optional<Session> session;
  expected_.clear();
  KM_TRY(try_all(&plan, &session));
  for (std::optional<uint32_t> next = plan.next(); next; next = plan.next()) {
    attempt(*next, &plan, &session, &Tune::launch_once);
  }
  for (uint32_t i = 0; i < count; ++i) note_result(i, plan);
  if (const std::optional<uint32_t> best = plan.best()) return *best;
  const Candidate& first = candidates_.front();
  return make_error(first.result.status, "none of %s works; the first: %s",
                    counted(count, "candidate").c_str(), first.message.c_str());
}

}  // namespace km
