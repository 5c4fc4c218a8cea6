// Finds a backend's plugin and makes sure that it belongs to this library.
#pragma once

#include <string>

#include "backend/interface.h"
#include "base/result.h"

namespace km {

/// The file of plugin `name`: in KM_PLUGIN_DIR, or in kernelmill-<version> beside this library.
std::string plugin_path(const std::string& name);

/// Opens the plugin and takes its table. KM_ERROR_BACKEND_UNAVAILABLE where there is none or it
/// cannot be loaded.
Result<const kmb_backend*> load_plugin(const std::string& name);

/// Copies a table after checking its ABI, its build and that no entry is missing.
Status check_table(const kmb_backend& found, kmb_backend* out_table);

/// Gives the backend its host and lets it say whether it works here.
Status initialize_backend(const kmb_backend& table);

}  // namespace km
