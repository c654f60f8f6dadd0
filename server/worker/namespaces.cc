#include "server/worker/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aot::server {
namespace {

bool WriteFile(const char* path, const std::string& text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return ok;
}

// The directories from `top` (which exists) down to `path`, which lies below it.
bool MakeDirectoriesBelow(size_t top, const char* path) {
  char part[PATH_MAX];
  size_t size = strlen(path);
  if (size >= sizeof(part)) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (size_t i = top + 1; i <= size; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    memcpy(part, path, i);
    part[i] = '\0';
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

// "/proc/self/fd/N" without the C library's formatting, which may allocate.
void DescriptorPath(int fd, char (&path)[32]) {
  char digits[12];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + fd % 10);
  while ((fd /= 10) > 0);
  size_t size = strlen(strcpy(path, "/proc/self/fd/"));
  while (count > 0) path[size++] = digits[--count];
  path[size] = '\0';
}

}  // namespace

Entered EnterNamespaces(int namespaces, const std::string& uid_map, const std::string& gid_map) {
  if (unshare(CLONE_NEWUSER | namespaces) == 0) {
    // Best effort: without a map the process merely sees itself as "nobody"; its access to files stays what it was.
    WriteFile("/proc/self/setgroups", "deny");
    WriteFile("/proc/self/uid_map", uid_map);
    WriteFile("/proc/self/gid_map", gid_map);
    return Entered::kWithUserNamespace;
  }
  return unshare(namespaces) == 0 ? Entered::kAlone : Entered::kNo;
}

bool HideDirectory(const char* hidden, const char* kept) {
  size_t top = strlen(hidden);
  bool below = strncmp(kept, hidden, top) == 0 && kept[top] == '/';
  int fd = open(kept, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  char original[32];
  DescriptorPath(fd, original);
  // Private first, or the host would get our mounts.
  bool ok = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            mount("none", hidden, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=0700") == 0;
  if (ok && below) {
    ok = MakeDirectoriesBelow(top, kept) && mount(original, kept, nullptr, MS_BIND, nullptr) == 0;
  }
  ok = ok && chdir(kept) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

}  // namespace aot::server
