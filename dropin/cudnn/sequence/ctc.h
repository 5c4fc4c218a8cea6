// The loss of connectionist temporal classification, and its gradient.
#pragma once

#include <vector>

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// One call. Labels are numbers from 1 on, 0 is the blank; those of all sequences lie one behind
/// the other, either in the vectors or in device memory.
struct CtcCall {
  View activations;  // steps x batch x alphabet
  View gradients;    // the same, or without data
  void* costs = nullptr;
  bool is_normalized = false;  // activations go through a softmax first
  bool keeps_padding = false;  // gradients beyond a sequence's end stay as they are
  int64_t most_labels = 0;
  std::vector<int> labels, label_lengths, input_lengths;
  const int* device_labels = nullptr;  // null: the vectors hold them
  int64_t label_room = 0;              // labels that the allocation of device_labels has room for
  const int* device_label_lengths = nullptr;
  const int* device_input_lengths = nullptr;
};

cudnnStatus_t ctc_loss(cu::CUstream stream, const CtcCall& call);

}  // namespace km::cudnn
