// The system calls that a worker is refused: those that reach other processes, the network or the host's settings.
//
// Async-signal-safe, so that a child of a many-threaded server can install it before exec.
#pragma once

namespace aot::server {

// From now on this process makes threads but no processes, no sockets, no namespaces or mounts; it signals, traces and
// limits nobody but itself; it changes no file's owner or mode by name. A refused call fails with EPERM (socket:
// EACCES) and a system call of a foreign ABI, whose numbers would pass by, ends the process. False with errno set: this
// host allows no filters.
bool InstallCallFilter();

}  // namespace aot::server
