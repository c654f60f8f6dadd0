"""clang-22 as a cross compiler for 64-bit Arm Linux, on Debian's multiarch packages (lib*-dev:arm64)."""

load("@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path")
load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("//third_party:llvm_version.bzl", "LLVM_ROOT", "LLVM_VERSION")

_LLVM = LLVM_ROOT + "/bin/"
_TARGET = "--target=aarch64-linux-gnu"

_COMPILE = [
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.assemble,
    ACTION_NAMES.preprocess_assemble,
]
_LINK = [
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]

def _flags(name, actions, flags):
    return feature(name = name, enabled = True, flag_sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])])

def _impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "aarch64-linux-clang",
        host_system_name = "local",
        target_system_name = "aarch64-linux-gnu",
        target_cpu = "aarch64",
        target_libc = "glibc",
        compiler = "clang",
        abi_version = "unknown",
        abi_libc_version = "unknown",
        cxx_builtin_include_directories = [
            LLVM_ROOT + "/lib/clang/" + LLVM_VERSION + "/include",
            "/usr/include",
            "/usr/aarch64-linux-gnu/include",
            "/usr/lib/gcc-cross",
            "/usr/lib/gcc",
        ],
        tool_paths = [tool_path(name = name, path = path) for name, path in [
            ("gcc", _LLVM + "clang"),
            ("cpp", _LLVM + "clang-cpp"),
            ("ld", _LLVM + "ld.lld"),
            ("ar", _LLVM + "llvm-ar"),
            ("nm", _LLVM + "llvm-nm"),
            ("objdump", _LLVM + "llvm-objdump"),
            ("objcopy", _LLVM + "llvm-objcopy"),
            ("strip", _LLVM + "llvm-strip"),
            ("gcov", "/bin/false"),
            ("dwp", "/bin/false"),
        ]],
        features = [
            _flags("target_compile", _COMPILE, [_TARGET, "-O2", "-no-canonical-prefixes"]),
            _flags("target_link", _LINK, [_TARGET, "-fuse-ld=lld", "-lstdc++", "-lm"]),
        ],
    )

aarch64_toolchain_config = rule(implementation = _impl, attrs = {}, provides = [CcToolchainConfigInfo])
