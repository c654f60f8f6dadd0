"""Pages of docs/ whose tables come from the code."""

def generated_page(name, tool, args = "", data = []):
    """Makes NAME.md from the standard output of a tool, and NAME_test, which fails when docs/NAME.md is something else.

    Args:
      name: the page, without .md.
      tool: a cc_binary that prints the page.
      args: its arguments; $(location) works on data.
      data: files that it reads.
    """
    native.genrule(
        name = name + "_page",
        # As a source, not as a tool: a tool would be built a second time for the host configuration.
        srcs = data + [tool],
        outs = [name + ".md"],
        cmd = "$(location %s) %s > $@" % (tool, args),
    )
    native.sh_test(
        name = name + "_test",
        size = "small",
        srcs = ["page_test.sh"],
        args = [
            "$(location :%s.md)" % name,
            "$(location //docs:%s.md)" % name,
        ],
        data = [
            ":%s.md" % name,
            "//docs:%s.md" % name,
        ],
    )
