// Operations of communicators as calls ask for them, at once or in a group.
#pragma once

#include "api/blas/operand_places.h"
#include "core/library/comm.h"

namespace km {

/// The arguments of any operation; functions leave out what theirs does not have.
struct CommArguments {
  kmb_comm_kind kind;
  km_comm comm;
  km_stream stream;
  const km_array* send = nullptr;
  const km_array* receive = nullptr;
  uint64_t count = 0;
  km_element_type type = KM_ELEMENT_TYPE_UNKNOWN;
  km_comm_reduction reduction = KM_COMM_REDUCTION_INVALID;
  const void* scale = nullptr;
  uint32_t root = 0;  // or the peer of a message
};

/// Checks the arguments of the function `name`, and queues the operation or keeps it for the end of
/// the thread's group.
Status request_comm(Call& call, const char* name, const CommArguments& arguments);

Status begin_comm_group();
Status end_comm_group();

}  // namespace km
