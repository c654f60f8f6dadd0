"""The one place of the build that names the LLVM release; tools/packages.txt lists its Debian packages."""

LLVM_VERSION = "22"
LLVM_ROOT = "/usr/lib/llvm-" + LLVM_VERSION
