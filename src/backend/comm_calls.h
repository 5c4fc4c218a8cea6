// Calls of communicators: the sizes of their elements, and which arrays a rank gives.
#pragma once

#include <cstdint>

#include "backend/interface.h"

namespace km {

/// The most ranks of a communicator, whatever carries out its operations.
constexpr uint32_t kMostCommRanks = 4096;

/// The bytes of an element; 0 for types that communicators do not have.
constexpr uint32_t comm_element_size(km_element_type type) {
  switch (type) {
    case KM_ELEMENT_TYPE_I8:
    case KM_ELEMENT_TYPE_U8:
    case KM_ELEMENT_TYPE_F8_E4M3:
    case KM_ELEMENT_TYPE_F8_E5M2:
      return 1;
    case KM_ELEMENT_TYPE_F16:
    case KM_ELEMENT_TYPE_BF16:
      return 2;
    case KM_ELEMENT_TYPE_I32:
    case KM_ELEMENT_TYPE_U32:
    case KM_ELEMENT_TYPE_F32:
      return 4;
    case KM_ELEMENT_TYPE_I64:
    case KM_ELEMENT_TYPE_U64:
    case KM_ELEMENT_TYPE_F64:
      return 8;
    default:
      return 0;
  }
}

constexpr bool comm_has_reduction(kmb_comm_kind kind) {
  return kind == KMB_COMM_ALL_REDUCE || kind == KMB_COMM_REDUCE || kind == KMB_COMM_REDUCE_SCATTER;
}
constexpr bool comm_is_message(kmb_comm_kind kind) {
  return kind == KMB_COMM_SEND || kind == KMB_COMM_RECEIVE;
}
/// True for operations that have a root, or another rank.
constexpr bool comm_has_root(kmb_comm_kind kind) {
  return kind == KMB_COMM_REDUCE || kind == KMB_COMM_BROADCAST || kind == KMB_COMM_GATHER ||
         kind == KMB_COMM_SCATTER || comm_is_message(kind);
}
/// True if what a rank sends has a block for each rank.
constexpr bool comm_sends_blocks(kmb_comm_kind kind) {
  return kind == KMB_COMM_REDUCE_SCATTER || kind == KMB_COMM_ALL_TO_ALL || kind == KMB_COMM_SCATTER;
}
/// True if what a rank receives has a block of each rank.
constexpr bool comm_receives_blocks(kmb_comm_kind kind) {
  return kind == KMB_COMM_ALL_GATHER || kind == KMB_COMM_ALL_TO_ALL || kind == KMB_COMM_GATHER;
}
/// True if the rank has an array that it sends.
constexpr bool comm_sends(kmb_comm_kind kind, bool is_root) {
  if (kind == KMB_COMM_BROADCAST || kind == KMB_COMM_SCATTER) return is_root;
  return kind != KMB_COMM_RECEIVE;
}
/// True if the rank has an array that it receives.
constexpr bool comm_receives(kmb_comm_kind kind, bool is_root) {
  if (kind == KMB_COMM_REDUCE || kind == KMB_COMM_GATHER) return is_root;
  return kind != KMB_COMM_SEND;
}

}  // namespace km
