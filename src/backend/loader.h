// Finds a backend's plugin and checks that it belongs to this library.
#pragma once

#include <string>

#include "backend/interface.h"
#include "base/result.h"

namespace km {

/// The path of plugin `name`: in KM_PLUGIN_DIR if that is set, otherwise in kernelmill-<version>
/// beside this library.
std::string plugin_path(const std::string& name);

/// Opens the plugin and returns its table. KM_ERROR_BACKEND_UNAVAILABLE if it is missing or cannot
/// be loaded.
Result<const kmb_backend*> load_plugin(const std::string& name);

/// Checks a table's ABI version, build id and required entries, and copies it.
Status check_table(const kmb_backend& found, kmb_backend* out_table);

/// Passes the backend its host services and lets it report whether it works here.
Status initialize_backend(const kmb_backend& table);

}  // namespace km
