// The reports on devices that nvidia-smi prints.
#pragma once

#include <string>
#include <vector>

#include "dropin/nvidia_smi/device.h"
#include "dropin/nvidia_smi/fields.h"

namespace km::smi {

/// One line for each device (-L).
void print_list(const std::vector<Device>& devices);
/// The table of nvidia-smi without options.
void print_table(const std::vector<Device>& devices);
/// The essentials of -q.
void print_details(const std::vector<Device>& devices);

struct CsvFormat {
  bool has_header = true, has_units = true;
};
/// The fields of each device (--query-gpu), under the names by which they were asked for.
void print_fields(const std::vector<Device>& devices, const std::vector<std::string>& names,
                  const CsvFormat& format);

}  // namespace km::smi
