#!/usr/bin/env bash
# Installs what is missing (Debian 12, Ubuntu 24.04), configures the release preset and builds build/imgpipe.
#   ./setup.sh            the program
#   ./setup.sh --tests    the program and its tests
set -euo pipefail
cd "$(dirname "$0")"

tests=OFF
for argument in "$@"; do
  case "$argument" in
    --tests) tests=ON ;;
    *) sed -n '2,4p' "$0" >&2; exit 2 ;;
  esac
done

packages=(g++ cmake ninja-build libpng-dev libjpeg-dev libtiff-dev libwebp-dev libtbb-dev libfmt-dev
          libyaml-cpp-dev nlohmann-json3-dev libboost-program-options-dev)
if [ "$tests" = ON ]; then
  packages+=(libgtest-dev zlib1g-dev libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev)
fi

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  # A virtual package such as libjpeg-dev may be there under another name.
  for i in "${!missing[@]}"; do
    if [ "${missing[$i]}" = libjpeg-dev ] && [ -e /usr/include/jpeglib.h ]; then unset "missing[$i]"; fi
    if [ "${missing[$i]:-}" = g++ ] && command -v g++ >/dev/null; then unset "missing[$i]"; fi
    if [ "${missing[$i]:-}" = cmake ] && command -v cmake >/dev/null; then unset "missing[$i]"; fi
  done
fi
if ! command -v apt-get >/dev/null; then
  echo "setup: there is no apt here. Install the equivalents of these Debian packages, then run" >&2
  echo "       cmake --preset release && cmake --build --preset release" >&2
  echo "  ${packages[*]}" >&2
  command -v cmake >/dev/null || exit 1
elif [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing ${missing[*]}"
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "setup: not root and no sudo. As root, run: apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

echo "setup: configuring (preset release)"
cmake --preset release -DIMGPIPE_TESTS=$tests
echo "setup: building"
cmake --build --preset release
echo "setup: done: build/imgpipe"
