#include "server/worker/file_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aot::server {
namespace {

// Rights of newer kernels than our headers.
constexpr uint64_t kRefer = 1ull << 13;        // version 2: link or rename to another directory
constexpr uint64_t kTruncate = 1ull << 14;     // version 3
constexpr uint64_t kIoctlDevice = 1ull << 15;  // version 5

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kExecute = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kReadWrite = kRead | kWriteFile | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG;
// What a rule about something else than a directory may carry.
constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE | kWriteFile | kIoctlDevice;

// All rights that this kernel knows; 0: it has no Landlock.
uint64_t KnownRights() {
  long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctlDevice;
  return rights;
}

// A path that doesn't exist needs no rule.
bool Allow(int ruleset, const char* path, uint64_t rights) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
  struct stat info;
  landlock_path_beneath_attr rule = {rights, fd};
  if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) rule.allowed_access &= kOfFiles;
  bool ok = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return ok;
}

}  // namespace

FileRules::FileRules(const std::string& program)
    : programs_{program, "/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"},
      // The dynamic linker's cache, and what the C and C++ libraries ask about processors and memory.
      readable_{"/etc/ld.so.cache", "/etc/ld.so.preload",      "/proc/cpuinfo",
                "/proc/meminfo",    "/sys/devices/system/cpu", "/dev/urandom"},
      devices_{"/dev/null"} {}

bool FileRules::Enter(const char* job_directory) const {
  const uint64_t known = KnownRights();
  if (known == 0) return false;
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = known;
  int ruleset =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes.handled_access_fs), 0));
  if (ruleset < 0) return false;
  bool ok = Allow(ruleset, job_directory, kReadWrite & known);
  for (const std::string& path : programs_) ok = ok && Allow(ruleset, path.c_str(), kExecute);
  for (const std::string& path : readable_) ok = ok && Allow(ruleset, path.c_str(), kRead);
  for (const std::string& path : devices_) ok = ok && Allow(ruleset, path.c_str(), (kRead | kWriteFile) & known);
  ok = ok && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  int error = errno;
  close(ruleset);
  errno = error;
  return ok;
}

}  // namespace aot::server
