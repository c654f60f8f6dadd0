// Namespaces of a worker: a network without interfaces, and file systems in which a directory is hidden.
//
// Async-signal-safe: for a child between fork and exec.
#pragma once

#include <string>

namespace aot::server {

enum class Entered { kNo, kWithUserNamespace, kAlone };

// Enters new namespaces (CLONE_NEWNET, CLONE_NEWNS). An unprivileged process gets them together with a user namespace,
// in which its own user and group are mapped to themselves by the maps; a privileged one that may not make user
// namespaces gets them directly. kNo with errno set.
Entered EnterNamespaces(int namespaces, const std::string& uid_map, const std::string& gid_map);

// In a mount namespace of our own: covers `hidden` by an empty directory, in which `kept`, if it lies below, is as it
// was. The working directory becomes `kept`. False with errno set.
bool HideDirectory(const char* hidden, const char* kept);

}  // namespace aot::server
