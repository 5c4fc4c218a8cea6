#include "comm/group/post.h"

#include <algorithm>
#include <atomic>

#include "comm/operation/exchange.h"

namespace km::comm {
namespace {

constexpr uint64_t kBytesPerNs = 4;

/// Ends a run of the parts once all communicators have ended theirs.
struct Run {
  Run(size_t shares, Resume resume, void* data) : left(shares), resume(resume), data(data) {}
  std::atomic<size_t> left;
  const Resume resume;
  void* const data;
};

void end_part(void* data) {
  auto* const run = static_cast<Run*>(data);
  if (run->left.fetch_sub(1) != 1) return;
  const std::unique_ptr<Run> over(run);
  over->resume(over->data);
}

}  // namespace

void add_operation(const std::shared_ptr<Communicator>& communicator, const Operation& operation,
                   std::vector<Part>* parts) {
  auto part = std::find_if(parts->begin(), parts->end(),
                           [&](const Part& each) { return each.communicator == communicator; });
  if (part == parts->end()) part = parts->insert(part, Part{communicator, {}});
  part->operations.push_back(operation);
}

bool post(std::span<const Part> parts, Poster poster, Resume resume, void* data) {
  if (parts.size() == 1) {
    return parts[0].communicator->post(parts[0].operations, poster, resume, data);
  }
  // The posting thread has a share, so that an end within this call is its result.
  auto* const run = std::make_unique<Run>(parts.size() + 1, resume, data).release();
  for (const Part& each : parts) {
    // The last share is the posting thread's own, so this one is not the last.
    // A wait for one communicator would keep the next ones from beginning.
    const Poster part = &each == &parts.back() ? poster : Poster::kGoesOn;
    if (each.communicator->post(each.operations, part, end_part, run)) run->left.fetch_sub(1);
  }
  if (run->left.fetch_sub(1) != 1) return false;
  const std::unique_ptr<Run> over(run);
  return true;
}

bool begin_at_once(std::span<const Part> parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& each) {
    return each.communicator->begins_at_once(each.operations);
  });
}

uint64_t estimated_ns(std::span<const Part> parts) {
  uint64_t bytes = 0;
  for (const Part& part : parts) {
    for (const Operation& each : part.operations) {
      bytes += written_bytes(each.call, part.communicator->ranks());
    }
  }
  return bytes / kBytesPerNs + 1;
}

}  // namespace km::comm
