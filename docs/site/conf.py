# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How Sphinx makes the site from README and docs/ (tools/dev/site.sh).

The pages are those that a host of Markdown shows, links included. Navigation
follows them: a heading of docs/index.md is a group of the sidebar and the links
under it are its pages; a folder's README is the parent of the pages that it
links to. A page that no link leads to is a warning of Sphinx, thus an error.
"""

import pathlib
import posixpath
import re

from pygments.lexer import RegexLexer, words
from pygments.token import (Comment, Keyword, Name, Number, Operator,
                            Punctuation, String, Text)

ROOT = pathlib.Path(__file__).resolve().parents[2]

project = "Fusion"
copyright = "the Fusion authors"
version = release = re.search(
    r'__version__ = "([^"]+)"',
    (ROOT / "python/fusion_compiler/version.py").read_text()).group(1)

root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
# Anchors of headings as hosts of Markdown make them.
myst_heading_anchors = 6
# Roundings and types are written with plain quotes and dashes.
smartquotes = False

html_theme = "furo"
html_title = f"Fusion {version}"
html_extra_path = ["index.html"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


class MlirLexer(RegexLexer):
    """Colours of MLIR: what begins with a sigil, numbers, types, op names."""

    name = "MLIR"
    aliases = ["mlir"]
    tokens = {"root": [
        (r"//.*?$", Comment.Single),
        (r'"(\\.|[^"\\])*"', String),
        (r"%[\w$.]+(:\d+|#\d+)?", Name.Variable),
        (r"\^\w+", Name.Label),
        (r"@[\w$.]+", Name.Function),
        (r"[#!][\w$.]+", Name.Decorator),
        (words(("tensor", "memref", "vector", "index", "none"),
               prefix=r"\b", suffix=r"\b(?!\.)"), Keyword.Type),
        (r"(?:(?<=x)|\b)(?:bf16|tf32|f\d+(?:E\d+M\d+\w*)?|[su]?i\d+)\b",
         Keyword.Type),
        (r"-?\b\d+\.\d*(?:[eE][-+]?\d+)?|\b0x[0-9a-fA-F]+|-?\d+",
         Number),
        (r"\b(?:true|false|unit|attributes|dense|array)\b", Keyword.Constant),
        (r"\b[a-z_][\w]*(?:\.[\w]+)+", Name.Builtin),
        (r"[A-Za-z_]\w*", Name),
        (r"->|==>|[=+*/?-]", Operator),
        (r"[{}()\[\]<>,:|]", Punctuation),
        (r"\s+", Text),
        (r".", Text),
    ]}


def links(text):
    """The targets of links to files, in order."""
    return [target for target in re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", text)
            if not re.match(r"[a-z]+:", target)]


def page_of(folder, target):
    """The page that `target`, seen from `folder`, is; None if it is no page."""
    path = posixpath.normpath(posixpath.join(folder, target))
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    return path[:-3] if path.endswith(".md") else None


def toctree(pages, caption=""):
    """The directive that makes `pages` the children of where it stands. None
    among them is what was no page."""
    head = [":hidden:"] + ([f":caption: {caption}"] if caption else [])
    entries = [f"/{page}" for page in dict.fromkeys(pages) if page]
    return "\n".join(["", "", "```{toctree}", *head, "", *entries, "```", ""])


def add_navigation(app, name, source):
    """Gives pages that are maps of others these as children."""
    folder, _, page = name.rpartition("/")
    if name == root_doc:
        text = (ROOT / "docs" / "index.md").read_text()
        sections = re.split(r"^## (.*)$", text, flags=re.M)
        source[0] += toctree(["docs/index"])
        for caption, section in zip(sections[1::2], sections[2::2]):
            source[0] += toctree(
                (page_of("docs", target) for target in links(section)), caption)
    elif page == "README":
        children = [page_of(folder, target) for target in links(source[0])]
        source[0] += toctree(
            child for child in children
            if child and child != name and posixpath.dirname(
                child.removesuffix("/README")) == folder)


def link_folders(app, name, source):
    """Lets links to folders lead to their README."""
    folder = ROOT / posixpath.dirname(name)

    def to_page(match):
        is_folder = (folder / match.group(1) / "README.md").is_file()
        return f"]({match.group(1).rstrip('/')}/README.md)" if is_folder \
            else match.group(0)
    source[0] = re.sub(r"\]\(([^)\s#:]+)\)", to_page, source[0])


def setup(app):
    app.add_lexer("mlir", MlirLexer)
    app.connect("source-read", add_navigation)
    app.connect("source-read", link_folders)
