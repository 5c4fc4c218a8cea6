// Reports objects that are alive when a context's last handle is destroyed or the process ends.
#pragma once

namespace km {

class Context;

/// Logs the objects of a context that its caller still holds handles to: as warnings if allocations
/// are tracked, otherwise at level info. Costs nothing if that level is not shown.
void report_leaks(Context& context);
/// Reports the leaks of all contexts when the process ends.
void report_leaks_at_exit();

}  // namespace km
