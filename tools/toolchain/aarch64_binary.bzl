"""aarch64_binary: the same cc_binary, built for 64-bit Arm in the same `bazel build`."""

def _to_aarch64(settings, attr):
    return {
        "//command_line_option:cpu": "aarch64",
        "//command_line_option:crosstool_top": "//tools/toolchain:toolchain",
    }

_transition = transition(
    implementation = _to_aarch64,
    inputs = [],
    outputs = ["//command_line_option:cpu", "//command_line_option:crosstool_top"],
)

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = out, target_file = ctx.attr.binary[0].files.to_list()[0])
    return DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))

aarch64_binary = rule(
    implementation = _impl,
    attrs = {
        "binary": attr.label(cfg = _transition, allow_files = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
