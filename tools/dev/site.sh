#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the site from README and docs/, checks that every link in it leads
# somewhere, and prints its first page. Pages need no network. Sphinx is that of
# build/venv (tools/dev/install_python.sh) or, with PYTHON, of another one.
#
# Usage: tools/dev/site.sh [FOLDER]
#   FOLDER   where the site goes; build/site unless it is given
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(realpath -m "${1:-$root/build/site}")
python=${PYTHON:-$root/build/venv/bin/python}

if ! "$python" -c 'import furo, myst_parser, sphinx' 2>/dev/null; then
  echo "site.sh: error: $python has no Sphinx with furo and myst-parser" >&2
  echo "  remedy: tools/dev/install_python.sh" >&2
  exit 1
fi

# A page that went must not stay in the site.
rm -rf "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# -W: what Sphinx warns of is an error, but all of it is said first.
"$python" -m sphinx -W --keep-going -q -j auto -b html -d "$scratch" \
  -c "$root/docs/site" "$root" "$folder"
rm -f "$folder/.buildinfo"
"$python" "$root/tools/dev/check_site.py" "$folder"
echo "$folder/index.html"
