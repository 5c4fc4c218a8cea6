// Contiguous transfers of graph nodes; rows_transfer() converts the others.
#pragma once

#include "backends/cpu/command/command.h"

namespace km::cpu {

inline Transfer transfer_of(const kmb_copy_node& node, km_graph_node_kind kind) {
  static_assert(int{KM_PROFILE_KIND_COPY} == int{KM_GRAPH_NODE_COPY} &&
                int{KM_PROFILE_KIND_UPLOAD} == int{KM_GRAPH_NODE_UPLOAD} &&
                int{KM_PROFILE_KIND_DOWNLOAD} == int{KM_GRAPH_NODE_DOWNLOAD});
  Transfer transfer;
  transfer.destination = node.destination;
  transfer.source = node.source;
  transfer.size_bytes = node.size_bytes;
  transfer.kind = static_cast<km_profile_kind>(kind);  // the kinds have equal values
  return transfer;
}

inline Transfer transfer_of(const kmb_fill_node& node) {
  Transfer transfer;
  transfer.destination = node.destination;
  transfer.size_bytes = node.size_bytes;
  transfer.kind = KM_PROFILE_KIND_FILL;
  transfer.value = node.value;
  transfer.value_size_bytes = node.value_size_bytes;
  return transfer;
}

}  // namespace km::cpu
