// The measuring of candidates, each in a context that a fault of another does not touch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/log.h"
#include "base/text.h"
#include "core/launch/tune.h"
#include "core/memory/copy.h"
#include "core/object/callback.h"
#include "core/stream/event.h"

namespace km {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint32_t kLeastSamples = 5, kMostSamples = 1000;
constexpr uint64_t kHopeless = 4;  // times as slow as the best: one sample will do

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

/// The first element that differs by more than the tolerance, relative to the larger magnitude or,
/// below 1, absolute; SIZE_MAX: none.
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

/// A context with what the kernel works on. It goes when a candidate has spoilt it.
struct Tune::Session {
  Ref<Context> context;
  Ref<Stream> stream;
  Ref<Event> start, end;
  std::vector<Ref<Slice>> buffers;  // by argument; null for scalars
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

/// Compares what the outputs hold with what the first candidate left there, or keeps it.
Status Tune::check_results(Session& session) {
  const bool is_first = expected_.empty();
  size_t output = 0;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments_[i].is_output) continue;
    Slice& slice = *session.buffers[i];
    std::vector<std::byte> seen(slice.size_bytes());
    KM_TRY(download(*session.stream, {&slice.memory(), slice.address()}, seen.data(), seen.size()));
    if (is_first) {
      expected_.push_back(std::move(seen));
      continue;
    }
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
  return {};
}

Status Tune::measure_in(Session& session, Candidate& candidate, uint64_t limit_ns) {
  KM_ASSIGN(const MayBlock may_block, require_may_block());
  KM_ASSIGN(const Ref<Launch> launch, launch_of(session, candidate));
  Stream& stream = *session.stream;
  KM_TRY(upload(session));
  KM_TRY(launch->submit());
  KM_TRY(stream.synchronize(may_block, KMB_WAIT_FOREVER));
  if (check_ != KM_TUNE_CHECK_OFF) KM_TRY(check_results(session));
  for (uint32_t i = 0; i < warmup_count_; ++i) KM_TRY(launch->submit());
  KM_TRY(stream.synchronize(may_block, KMB_WAIT_FOREVER));
  std::vector<uint64_t> samples;
  uint64_t least_ns = UINT64_MAX;
  const Clock::time_point start = Clock::now();
  do {
    KM_TRY(session.start->record(stream));
    KM_TRY(launch->submit());
    KM_TRY(session.end->record(stream));
    KM_TRY(stream.synchronize(may_block, KMB_WAIT_FOREVER));
    KM_ASSIGN(const int64_t elapsed_ns, session.start->elapsed_ns(*session.end));
    samples.push_back(static_cast<uint64_t>(std::max<int64_t>(elapsed_ns, 0)));
    least_ns = std::min(least_ns, samples.back());  // one slow sample may be the machine's doing
    if (best_ns_ != 0 && least_ns > kHopeless * best_ns_) break;
  } while (samples.size() < kLeastSamples ||
           (samples.size() < kMostSamples && nanoseconds_since(start) < limit_ns));
  std::sort(samples.begin(), samples.end());
  candidate.result.min_ns = samples.front();
  candidate.result.median_ns = samples[samples.size() / 2];
  candidate.result.sample_count = static_cast<uint32_t>(samples.size());
  return {};
}

void Tune::measure(Candidate& candidate, std::optional<Session>* session, uint64_t limit_ns) {
  candidate.result = {};
  candidate.message.clear();
  Status status;
  if (!*session) {
    Result<Session> opened = open_session();
    if (opened) {
      session->emplace(std::move(*opened));
    } else {
      status = std::move(opened.error());
    }
  }
  if (status) status = measure_in(**session, candidate, limit_ns);
  if (status) {
    candidate.result.status = KM_SUCCESS;
    if (best_ns_ == 0 || candidate.result.median_ns < best_ns_) {
      best_ns_ = candidate.result.median_ns;
    }
    return;
  }
  candidate.result.status = status.error().status;
  candidate.message = std::move(status.error().message);
  // Whatever it did to its context, the next one does not meet it.
  session->reset();
}

Result<uint32_t> Tune::measure_all() {
  const auto count = static_cast<uint32_t>(candidates_.size());
  const Clock::time_point start = Clock::now();
  std::optional<Session> session;
  std::optional<uint32_t> best;
  expected_.clear();
  best_ns_ = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t spent = std::min(nanoseconds_since(start), budget_ns_);
    if (expected_.empty()) expected_of_ = "candidate " + std::to_string(i);
    measure(candidates_[i], &session, (budget_ns_ - spent) / (count - i));
    const km_tune_result& result = candidates_[i].result;
    const bool is_better = result.status == KM_SUCCESS &&
                           (!best || result.median_ns < candidates_[*best].result.median_ns);
    if (is_better) best = i;
    const std::string& message = candidates_[i].message;
    const std::string outcome =
        message.empty() ? std::to_string(result.median_ns) + " ns" : message;
    log(LogLevel::kInfo, "tune", "kernel '%s', candidate %u: %s", kernel_.c_str(), i,
        outcome.c_str());
    if (progress_ != nullptr) {
      KM_TRY(require_returned(run_callback([&] { progress_(progress_data_, i + 1, count); })));
    }
  }
  if (best) return *best;
  const Candidate& first = candidates_.front();
  return make_error(first.result.status, "none of %s works; the first: %s",
                    counted(count, "candidate").c_str(), first.message.c_str());
}

}  // namespace km
