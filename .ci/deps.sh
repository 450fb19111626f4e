#!/bin/sh
# Installs the Debian packages that are missing, and says which. Groups: build test bench search browser check.
set -eu

build='gcc make pkg-config libc6-dev libcurl4-openssl-dev libcjson-dev libpcre2-dev
    libmicrohttpd-dev libuv1-dev libssl-dev zlib1g-dev liblua5.4-dev libsqlite3-dev'
test='libcmocka-dev python3 python3-numpy python3-venv scowl curl dict-foldoc'
bench='wrk python3 python3-venv'
search='python3 dict-foldoc'
browser='chromium fonts-dejavu-core'
check='clang clang-format clang-tidy cppcheck shellcheck'

wanted=''
for group in "${@:-build}"; do
    case $group in
    build) wanted="$wanted $build" ;;
    test) wanted="$wanted $test" ;;
    bench) wanted="$wanted $bench" ;;
    search) wanted="$wanted $search" ;;
    browser) wanted="$wanted $browser" ;;
    check) wanted="$wanted $check" ;;
    *) echo "deps.sh: unknown group $group; there are: build test bench search browser check" >&2; exit 2 ;;
    esac
done

missing=''
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "These Debian packages (or what your system calls them) are missing:$missing" >&2
    exit 1
fi
sudo=''
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086 # one word a package
$sudo apt-get install -y -qq --no-install-recommends $missing
