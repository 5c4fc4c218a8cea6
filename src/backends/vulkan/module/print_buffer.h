// The text that one launch prints.
#pragma once

#include <memory>

#include "backends/vulkan/stream/workspace.h"

namespace km::vulkan {

/// A spirv::PrintBuffer and its text.
class PrintedText {
 public:
  static Result<std::shared_ptr<PrintedText>> make(const Workspace& workspace);
  uint64_t address() const { return buffer_->address(); }
  uint32_t capacity_bytes() const;
  /// Formats what was printed since the last call, and appends it to the context's output.
  void hand_out(const Workspace& workspace);

 private:
  explicit PrintedText(std::shared_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}
  const std::shared_ptr<Buffer> buffer_;
};

}  // namespace km::vulkan
