"""Opens a page in a headless browser and prints what its scripts made of it.

browse.py [--screenshot=F.png] [--size=W,H] PAGE [FRAGMENT]
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--screenshot", type=pathlib.Path)
parser.add_argument("--size", default="1400,1000")
parser.add_argument("page", type=pathlib.Path)
parser.add_argument("fragment", nargs="?", default="")
options = parser.parse_args()

browser = shutil.which("chromium")
if not browser:
    sys.exit("browse.py: error: there is no chromium\n  remedy: tools/dev/install_deps.sh")


def browse():
    """What the browser printed."""
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            # Scripts may take so many milliseconds of their own time.
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", "--virtual-time-budget=5000",
             f"--window-size={options.size}",
             f"--screenshot={options.screenshot.resolve()}" if options.screenshot else "--dump-dom",
             options.page.resolve().as_uri() + options.fragment],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if result.returncode or (options.screenshot and not options.screenshot.exists()):
        sys.exit(f"browse.py: error: the browser failed\n{result.stderr}")
    return result.stdout


# The browser may print the page while texts in it are still being unpacked, which
# is no time of its scripts.
for _ in range(5):
    text = browse()
    if options.screenshot or "data-complete" in text:
        break
# Scripts say when they are done; an error in them stops them before.
if not options.screenshot and ('data-ready="' not in text or "data-complete" not in text):
    sys.exit("browse.py: error: the page's scripts did not finish")
print(text)
