#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that links of a built site lead somewhere, and that it works offline.

    check_site.py FOLDER

Links to pages, to anchors within them and to files must have their target in
FOLDER. What a page loads (styles, scripts, pictures) must be there as well;
links for readers may leave the site, and are not followed.
"""

import html.parser
import pathlib
import sys
import urllib.parse

# What a browser loads by itself, and by which attribute.
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src",
          "iframe": "src"}


class Page(html.parser.HTMLParser):
    """The anchors of a page, and the targets of its links."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name")
                            if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(LOADED.get(tag)):
            self.loaded.append(values[LOADED[tag]])


def errors(folder):
    """What is wrong with the site in `folder`, a line each."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8"))
             for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder}: there are no pages"
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for target in page.loaded:
            if urllib.parse.urlsplit(target).netloc:
                yield f"{name}: loads {target} from elsewhere"
        for target in page.links + page.loaded:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                continue
            file = path
            if url.path:
                file = (path.parent / urllib.parse.unquote(url.path)).resolve()
            anchor = urllib.parse.unquote(url.fragment)
            if not file.is_file():
                yield f"{name}: {target} leads nowhere"
            elif anchor and file in pages and (
                    anchor not in pages[file].anchors):
                yield f"{name}: {target}: there is no such anchor"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    found = list(errors(pathlib.Path(arguments[0])))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
