#!/bin/sh
# What `make install` leaves: a program that finds its data, a library that shows only gg_ names, and
# headers that a plug-in and a program can be built from, outside of the source tree.
. "$(dirname "$0")/inc/common.sh"
unset GUESSGYM_DATA
root=$T/root/usr/local

expect 0 make -s install DESTDIR="$T/root"
for file in bin/guessgym lib/libguessgym.so lib/pkgconfig/guessgym.pc include/guessgym/env.h \
    share/man/man1/guessgym.1 share/bash-completion/completions/guessgym \
    share/guessgym/wordlists/answers.txt share/guessgym/wordlists/splits/test.jsonl \
    share/guessgym/wordlists/COPYRIGHT; do
    [ -s "$root/$file" ] || fail "$file is not installed"
done

# The library and the program offer every function of the headers, and the library nothing else.
sed -n 's/^GG_API .*[ *]\(gg_[a-z_]*\)(.*/\1/p' "$root"/include/guessgym/*.h | sort -u >"$T/promised"
[ "$(wc -l <"$T/promised")" -gt 30 ] || fail 'the headers promise nothing'
for file in lib/libguessgym.so bin/guessgym; do
    nm -D --defined-only "$root/$file" | awk '{ print $3 }' | sort >"$T/offered"
    [ -z "$(comm -23 "$T/promised" "$T/offered")" ] ||
        fail "$file lacks $(comm -23 "$T/promised" "$T/offered" | tr '\n' ' ')"
done
nm -D --defined-only "$root/lib/libguessgym.so" | awk '{ print $3 }' | grep -v '^gg_' >"$T/out" &&
    fail 'the library shows names of its own'

# From an empty folder, with no variable set.
mkdir "$T/empty"
(cd "$T/empty" && "$root/bin/guessgym" eval --limit 2 --json -o run >"$T/out" 2>"$T/err") ||
    fail 'the installed program'
json 'd["planned"] == 2'

# A program and a plug-in against the installed headers alone.
export PKG_CONFIG_PATH="$root/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$T/root"
cat >"$T/user.c" <<'EOF'
#include <stdio.h>
#include <guessgym/env.h>
int main(void)
{
    gg_buf buf;
    gg_buf_init(&buf, 64);
    gg_buf_double(&buf, 0.1);
    puts(gg_buf_cstr(&buf));
    gg_buf_free(&buf);
    return 0;
}
EOF
# shellcheck disable=SC2046 # one word a flag
expect 0 "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$T/user.c" -o "$T/user" \
    $(pkg-config --cflags --libs guessgym)
expect 0 env LD_LIBRARY_PATH="$root/lib" "$T/user"; prints 0.1
for header in "$root"/include/guessgym/*.h; do # each stands alone, in C and in C++
    expect 0 "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$header" \
        -I"$root/include"
    command -v g++ >/dev/null && expect 0 g++ -Wall -Wextra -Werror -fsyntax-only -x c++ "$header" \
        -I"$root/include"
done
for example in examples/env-*/; do
    [ -f "$example/Makefile" ] || continue
    copy=$T/$(basename "$example")
    cp -r "$example" "$copy"
    rm -f "$copy"/*.so
    expect 0 make -s -C "$copy"
    expect 0 "$root/bin/guessgym" env-check "$copy"/*.so
done
echo 'install: everything holds'
