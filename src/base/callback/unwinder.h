// The unwinder that this library is linked with.
#pragma once

namespace km {

/// Lets the host's unwinder, as that of pthread_exit, pass frames of this library. The unwinder of
/// a statically linked libgcc, which those frames ask, is complete after its first use only, and a
/// pass of the host's does not count as one.
void prepare_unwinder() noexcept;

}  // namespace km
