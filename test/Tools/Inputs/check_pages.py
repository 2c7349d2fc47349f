# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_pages.py TOOL...: each option that --help prints is in the manual page,
is completed by bash from its first letters, and is in the file for zsh."""

import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def complete(script, tool, words):
    """What bash offers for the last word of a command line, cut as bash cuts
    it: '=' is a word of its own."""
    text = "\n".join((
        script, "COMP_WORDS=(" + " ".join(f"'{word}'" for word in words) + ")",
        f"COMP_CWORD={len(words) - 1}", "_" + tool.replace("-", "_"),
        'printf "%s\\n" "${COMPREPLY[@]}"'))
    return run("bash", "-c", text).split()


for tool in sys.argv[1:]:
    # Deeper are options of passes, which are written inside of those.
    shown = set(re.findall(r"^ {2,6}(--?\w[\w.-]*)", run(tool, "--help"), re.M))
    assert {"--help", "--version", "--man-page", "--completion"} <= shown, shown
    manual = run(tool, "--man-page").replace("\\-", "-")
    named = {re.match(r"--?[\w.-]+", name)[0] for name in
             re.findall(r"^\.B (-\S+)", manual, re.M)}
    assert shown <= named, (tool, sorted(shown - named))
    assert manual.startswith(".TH " + tool.upper() + " 1 "), manual[:80]

    bash = run(tool, "--completion=bash")
    offered = {word.rstrip("=") for prefix in ("-", "--")
               for word in complete(bash, tool, [tool, prefix])}
    assert shown <= offered, (tool, sorted(shown - offered))
    some = sorted(shown)[len(shown) // 2]
    assert some in {word.rstrip("=")
                    for word in complete(bash, tool, [tool, some[:-1]])}, some
    # A value out of a few, begun or not.
    for line in (["--completion", "="], ["--completion", "=", "z"]):
        assert complete(bash, tool, [tool, *line])[-1] == "zsh", line

    zsh = run(tool, "--completion=zsh")
    assert zsh.startswith(f"#compdef {tool}\n")
    listed = set(re.findall(r"^  '\*(--?[\w.-]*\w)", zsh, re.M))
    assert shown <= listed, (tool, sorted(shown - listed))
    subprocess.run(["bash", "-n"], input=zsh, check=True, text=True)
