"""cc_fuzz: a libFuzzer target (clang's), its short run as a test and its long run by hand.

Code under test is built anew with coverage, AddressSanitizer and the undefined behaviour checks that can't fire in libraries
of the system; those stay as they are installed.
"""

_COPTS = [
    "-O1",
    "-g1",
    "-fno-omit-frame-pointer",
    "-fsanitize=fuzzer-no-link,address,signed-integer-overflow,shift,bounds,integer-divide-by-zero,float-cast-overflow,null,return,unreachable",
    "-fno-sanitize-recover=all",
    "-D_GLIBCXX_ASSERTIONS",
    # Lower limits on how much work a few bytes may ask for.
    "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION",
]

def _instrument(settings, attr):
    return {
        "//command_line_option:copt": settings["//command_line_option:copt"] + _COPTS,
        "//command_line_option:linkopt": settings["//command_line_option:linkopt"] + ["-fsanitize=address,undefined", "-fno-sanitize=vptr,function"],
    }

_transition = transition(
    implementation = _instrument,
    inputs = ["//command_line_option:copt", "//command_line_option:linkopt"],
    outputs = ["//command_line_option:copt", "//command_line_option:linkopt"],
)

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = out, target_file = ctx.attr.binary[0].files.to_list()[0])
    return DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))

_instrumented_binary = rule(
    implementation = _impl,
    attrs = {
        "binary": attr.label(cfg = _transition, allow_files = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)

def cc_fuzz(name, srcs, deps, corpus, runs, max_len, dictionary = None, copts = []):
    """Makes NAME (`bazel run`: until stopped, or with libFuzzer's flags behind --) and NAME_test.

    Args:
      name: of the target to run by hand.
      srcs: with LLVMFuzzerTestOneInput.
      deps: as of a cc_binary.
      corpus: a zip archive of inputs; the test replays all of them.
      runs: mutations, from a fixed seed, that the test tries after that.
      max_len: of a mutated input in bytes.
      dictionary: a file in libFuzzer's format, or None.
      copts: as of a cc_binary.
    """
    native.cc_binary(
        name = name + "_uninstrumented",
        testonly = True,
        srcs = srcs,
        copts = copts,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )
    _instrumented_binary(
        name = name + "_binary",
        testonly = True,
        binary = ":" + name + "_uninstrumented",
    )
    data = [":" + name + "_binary", corpus] + ([dictionary] if dictionary else [])
    args = [
        "$(location :%s_binary)" % name,
        "$(location %s)" % corpus,
        "$(location %s)" % dictionary if dictionary else "-",
        str(max_len),
    ]
    native.sh_binary(
        name = name,
        testonly = True,
        srcs = ["//tools:fuzz.sh"],
        args = ["run"] + args,
        data = data,
    )
    native.sh_test(
        name = name + "_test",
        size = "medium",
        srcs = ["//tools:fuzz.sh"],
        args = ["test"] + args + ["-runs=%d" % runs],
        data = data,
    )
