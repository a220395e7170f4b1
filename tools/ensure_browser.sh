#!/usr/bin/env bash
# The report's tests open it in a real Chromium: find one, or install one where that is ours to do.
set -euo pipefail
for browser in chromium chromium-browser google-chrome google-chrome-stable; do
	command -v "$browser" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing chromium for the browser tests"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null
else
	echo "the browser tests need Chromium or Chrome on PATH; install it, e.g. sudo apt-get install chromium" >&2
	exit 1
fi
