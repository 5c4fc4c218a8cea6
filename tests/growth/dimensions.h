// Modules that are large in one way each: what is written n times differs from row to row.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "simt/engine.h"

namespace km::growth {

/// How far a module is taken: parsed and analysed, or compiled as well.
enum class Stage : uint8_t { load, compile };

struct Dimension {
  const char* name;
  Stage stage;
  simt::Mode mode;                // the least general one that compile() may choose
  uint32_t size;                  // the n of a short measurement
  std::string (*text)(uint32_t);  // the module with n of what the name says
};

std::span<const Dimension> dimensions();

}  // namespace km::growth
