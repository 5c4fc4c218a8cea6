#include "core/capture/capture.h"

#include <algorithm>

#include "base/assert.h"
#include "core/capture/capture_error.h"

namespace km {

using namespace capturing;

namespace {

std::atomic<uint64_t> last_capture{0}, last_chain{0};

}  // namespace

void append_missing(std::vector<uint64_t>* to, std::span<const uint64_t> nodes) {
  for (uint64_t node : nodes) {
    if (std::find(to->begin(), to->end(), node) == to->end()) to->push_back(node);
  }
}

Capture::Capture(const CaptureSlot* begun_by) : id(++last_capture), origin(begun_by) {}

Status CaptureCalls::record(CaptureSlot& slot, EventCapture& mark) {
  KM_ASSERT(slot.capture_, "the caller has seen the capture under the same lock");
  if (slot.capture_->state != CaptureState::kActive) return invalidated();
  mark.nodes = slot.tail_;
  kept_ = std::exchange(mark.capture, slot.capture_);
  mark.is_set.store(true, std::memory_order_relaxed);
  return {};
}

void CaptureCalls::forget(EventCapture& mark) {
  mark.is_set.store(false, std::memory_order_relaxed);
  kept_ = std::move(mark.capture);
  mark.nodes.clear();
}

Status CaptureCalls::wait_outside(CaptureSlot& slot, bool was_recorded) {
  KM_ASSERT(slot.capture_, "the caller has seen the capture under the same lock");
  if (slot.capture_->state != CaptureState::kActive) return invalidated();
  if (!was_recorded) return {};
  slot.capture_->state = CaptureState::kInvalidated;
  return capture_error(kIsolation, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                       "a stream that is being captured cannot wait for an event that was "
                       "recorded outside of the capture; the capture is invalid now");
}

Status CaptureCalls::wait(CaptureSlot& slot, const EventCapture& mark) {
  KM_ASSERT(mark.capture, "an event of a capture keeps the capture alive");
  Capture& theirs = *mark.capture;
  if (slot.capture_ && slot.capture_->state != CaptureState::kActive) return invalidated();
  if (theirs.state == CaptureState::kInvalidated) {
    if (slot.capture_) return invalidated();
    return capture_error(kInvalidValue, KM_ERROR_CAPTURE_INVALIDATED, "%s",
                         "the event was recorded in a capture that an earlier call has "
                         "invalidated; end that capture and record the event again");
  }
  if (theirs.state == CaptureState::kEnded) {
    if (slot.capture_) slot.capture_->state = CaptureState::kInvalidated;
    return capture_error(kInvalidValue, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                         "the event was recorded in a capture that is over, so it marks no "
                         "work; record it again");
  }
  if (slot.capture_ && slot.capture_.get() != &theirs) {
    slot.capture_->state = theirs.state = CaptureState::kInvalidated;
    return capture_error(kMerge, KM_ERROR_CAPTURE_UNSUPPORTED, "%s",
                         "the event belongs to another capture, and two captures cannot be "
                         "joined; both are invalid now");
  }
  if (!slot.capture_) {
    join(slot, mark.capture, mark.nodes);
  } else {
    append_missing(&slot.tail_, mark.nodes);
  }
  return {};
}

Error CaptureCalls::refuse(CaptureSlot& slot, const char* what) {
  KM_ASSERT(slot.capture_, "the caller has seen the capture under the same lock");
  if (slot.capture_->state != CaptureState::kActive) return invalidated();
  slot.capture_->state = CaptureState::kInvalidated;
  return capture_error(kUnsupported, KM_ERROR_CAPTURE_UNSUPPORTED,
                       "%s a stream that is being captured is not possible, because its work "
                       "does not run; the capture is invalid now",
                       what);
}

Error CaptureCalls::refuse(EventCapture& mark, const char* what) {
  if (!mark.capture) {
    return make_error(KM_ERROR_NOT_PERMITTED,
                      "another thread is recording the event; call again when it is done");
  }
  CaptureState& state = mark.capture->state;
  const bool was_active = state == CaptureState::kActive;
  if (was_active) state = CaptureState::kInvalidated;
  // CUDA's code differs for an event of an active capture and one of an ended capture.
  return capture_error(was_active ? kCapturedEvent : kInvalidValue, KM_ERROR_CAPTURE_UNSUPPORTED,
                       "%s an event that was recorded in a capture is not possible, because it "
                       "marks no work that runs%s",
                       what, was_active ? "; the capture is invalid now" : "; record it again");
}

Status CaptureCalls::refuse_all(const char* what) {
  if (captures_.all.empty()) return {};
  for (const Ref<Capture>& capture : captures_.all) capture->state = CaptureState::kInvalidated;
  return capture_error(kUnsupported, KM_ERROR_CAPTURE_UNSUPPORTED,
                       "%s a context with streams that are being captured is not possible; "
                       "captures that are invalid now: %zu",
                       what, captures_.all.size());
}

void CaptureCalls::leave(CaptureSlot& slot) {
  KM_ASSERT(slot.is_active() == static_cast<bool>(slot.capture_),
            "the flag that calls read without the lock matches the capture");
  if (!slot.capture_) return;
  kept_ = slot.capture_;
  if (kept_->origin == &slot) {
    finish(*kept_);  // the destroyed stream began it, so nobody can end it any more
    return;
  }
  KM_ASSERT(std::find(kept_->members.begin(), kept_->members.end(), &slot) != kept_->members.end(),
            "the capture knows its streams");
  append_missing(&kept_->abandoned, slot.tail_);
  std::erase(kept_->members, &slot);
  clear(slot);
}

void CaptureCalls::drop_all() {
  all_kept_.swap(captures_.all);
  for (const Ref<Capture>& capture : all_kept_) finish(*capture);
  KM_ASSERT(captures_.all.empty() && captures_.count.load(std::memory_order_relaxed) == 0,
            "a context that drops its captures has none");
}

void CaptureCalls::start_chain(CaptureSlot& slot) { slot.chain_ = ++last_chain; }

void CaptureCalls::join(CaptureSlot& slot, Ref<Capture> capture, std::span<const uint64_t> nodes) {
  KM_ASSERT(!slot.capture_ && !slot.is_active(), "a stream takes part in one capture");
  KM_ASSERT(capture->state == CaptureState::kActive, "no stream joins a capture that has ended");
  // The room is reserved first, so that nothing fails halfway.
  capture->members.reserve(capture->members.size() + 1);
  slot.tail_.assign(nodes.begin(), nodes.end());
  start_chain(slot);
  capture->members.push_back(&slot);
  slot.capture_ = std::move(capture);
  slot.active_.store(true, std::memory_order_relaxed);
}

void CaptureCalls::clear(CaptureSlot& slot) {
  slot.active_.store(false, std::memory_order_relaxed);
  slot.tail_.clear();
  slot.capture_ = nullptr;
}

void CaptureCalls::finish(Capture& capture) {
  if (kept_.get() != &capture) kept_ = Ref<Capture>::share(capture);
  KM_ASSERT(capture.state != CaptureState::kEnded, "a capture ends once");
  capture.state = CaptureState::kEnded;
  for (CaptureSlot* member : std::exchange(capture.members, {})) {
    KM_ASSERT(member->capture_.get() == &capture, "a member of a capture takes part in no other");
    clear(*member);
  }
  std::erase_if(captures_.all, [&](const Ref<Capture>& one) { return one.get() == &capture; });
  captures_.count.store(static_cast<uint32_t>(captures_.all.size()), std::memory_order_relaxed);
}

Status require_no_capture(ContextCaptures& captures, const char* what) {
  if (captures.count.load(std::memory_order_relaxed) == 0) return {};
  return CaptureCalls(captures).refuse_all(what);
}

void leave_capture(ContextCaptures& captures, CaptureSlot& slot) {
  if (slot.is_active()) CaptureCalls(captures).leave(slot);
}

void drop_captures(ContextCaptures& captures) { CaptureCalls(captures).drop_all(); }

}  // namespace km
