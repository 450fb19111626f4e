# shellcheck shell=sh
# Sourced by tests that need Python packages: `need_python NAME PACKAGE...` makes (once) a virtual environment
# build/venv-NAME with the packages and sets $python; says SKIP and exits 0 when they cannot be installed.
need_python() {
    venv=build/venv-$1
    shift
    if [ ! -f "$venv/.ready" ]; then
        rm -rf "$venv"
        if ! { python3 -m venv "$venv" && "$venv/bin/pip" install -q "$@" && touch "$venv/.ready"; } >"$venv.log" 2>&1; then
            echo "SKIP: cannot install $* for Python: $(tail -n 1 "$venv.log")"
            exit 0
        fi
    fi
    # shellcheck disable=SC2034 # the caller uses it
    python=$venv/bin/python
}
