// Operations of several communicators that begin together, since each may wait for another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/group/communicator.h"

namespace km::comm {

/// The operations of one communicator.
struct Part {
  std::shared_ptr<Communicator> communicator;
  std::vector<Operation> operations;
};

/// Adds an operation to its communicator's part, which it makes if there is none.
void add_operation(const std::shared_ptr<Communicator>& communicator, const Operation& operation,
                   std::vector<Part>* parts);

/// Begins the operations of all parts. Returns true if they are over; otherwise resume(data) is
/// called once when they are, on any thread.
bool post(std::span<const Part> parts, Poster poster, Resume resume, void* data);

/// True if post() takes a moment: the operations are short.
bool begin_at_once(std::span<const Part> parts);

/// A guess at the time of the operations, by the bytes that they write.
uint64_t estimated_ns(std::span<const Part> parts);

}  // namespace km::comm
