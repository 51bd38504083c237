#!/usr/bin/env bash
# Tokio's own tests, under Tokio's attributes and under ours: `tests/tokio-suite.sh [--third N | TEST_FILE…]`.
#
# It takes `tests/` of the package `tokio`, of the version in Cargo.lock, as cargo fetches it, with its dev-dependencies and
# all its features. It builds and runs the files that have attributes, with `#[tokio::test]` and `#[tokio::main]` swapped for
# ours; each file is also linked with the library, as it is in a program of a user. A file that has as many tests as
# attributes is not built again if all of them pass. Any other file is built and run as it is, too. The script prints a
# table of both, and fails if a file or a test doesn't give the same under both.
#
# A test whose results differ is run alone, up to RETRIES times under both by turns, before it
# counts: some of Tokio's own depend on the time. It needs Linux and the package registry, takes
# some minutes, and leaves 3 GB in target/tmp. Names of test files (`rt_common macros_test`) restrict it to these.
# `--third N` is what CI runs: the files on runtimes and on macros, and a third of the others in which more than one thing goes
# on: a task is spawned, futures are joined, or time passes. N, any number, says which third. Files in which one future is
# polled to its end (on the file system, on reading and writing bytes) are in none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

readonly RETRIES=5
# Where more than this many differ, nothing is run again: that is no accident.
readonly MAX_RETRIED=40
# Seconds for all tests of a file, and for one alone.
readonly FILE_SECONDS=300 TEST_SECONDS=60

die() {
    echo "tokio-suite: $*" >&2
    exit 1
}

# put FILE: writes its input there, unless it is there: cargo takes what is written for changed.
put() {
    cat >"$1.new"
    if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}

# A test's `#[tokio::test]`, however the crate is called there.
swap() {
    sed -E 's/(\btest::)?\btokio1?::(test|main)\b/tokio_statemap::\2/g' "$1"
}

# manifest VARIANT: a package whose tests see what they see in Tokio's: its features, its dependencies
# and its dev-dependencies; and Tokio.
manifest() {
    printf '[package]\nname = "%s"\nversion = "0.0.0"\npublish = false\n' "$1"
    # Cargo writes the manifest of a package in this one form.
    awk -v version="$version" '
        /^\[/ { section = $0; kept = /dependencies|^\[features\]|^\[lints/ }
        # Tests of the file system look for the home page.
        section == "[package]" && /^(edition|homepage) = /
        section == "[features]" && / = \[/ { all = all "\"" $1 "\", " }
        # What is optional and no feature names is a feature itself.
        section ~ /dependencies\.tracing\]$/ && /^optional = true/ { all = all "\"tracing\", " }
        kept
        END { printf "\n[dependencies.tokio]\nversion = \"=%s\"\nfeatures = [%s]\n", version, all }
    ' "$package/Cargo.toml"
    if [[ $1 == swapped ]]; then
        printf '\n[dependencies.tokio-statemap]\npath = "%s"\n' "$PWD/tokio-statemap"
    fi
}

# Our locked versions; those that Tokio was published with for what only it depends on.
lock() {
    printf 'version = 4\n'
    awk -v RS='' '
        $1 != "[[package]]" { next }
        FNR == NR { ours[$4] }
        FNR == NR || !($4 in ours) { print "\n" $0 }
    ' Cargo.lock "$package/Cargo.lock"
}

sources() {
    local variant from to
    put "$work/Cargo.toml" <<-'TOML'
	[workspace]
	resolver = "2"
	members = ["plain", "swapped"]

	[profile.dev]
	debug = false
	incremental = false
	TOML
    for variant in plain swapped; do
        mkdir -p "$work/$variant/tests/support"
        manifest "$variant" | put "$work/$variant/Cargo.toml"
        for from in "$package"/tests/{,support/}*.rs; do
            to=$work/$variant/${from#"$package"/}
            if [[ $variant == plain ]]; then
                put "$to" <"$from"
            elif [[ $from == */support/* ]]; then
                swap "$from" | put "$to"
            else
                { swap "$from" && echo 'extern crate tokio_statemap as _;'; } | put "$to"
            fi
        done
    done
    # Had a test the attribute under a name that is not known here, it would be compared with itself.
    ! grep -rnE '#\[[A-Za-z0-9_:]*::(test|main)\b' "$work/swapped/tests" |
        grep -vE '#\[((::)?tokio_statemap|std::prelude::v1)::' || die "not swapped: see above"
    ! grep -rzoE 'use (::)?tokio1?::\{[^;]*\b(test|main)\b' "$work/swapped/tests" ||
        die "not swapped: see above"
}

# build VARIANT FILE…: those that can be compiled: `$work/programs.VARIANT` says file, program.
build() {
    local variant=$1 selected=() name
    shift
    for name in "$@"; do selected+=(--test "$name"); done
    # It fails if one file does; which ones is seen from what is there.
    (
        cd "$work"
        cargo build --package "$variant" --all-features --keep-going \
            --message-format=json-render-diagnostics "${selected[@]}" \
            >"$work/messages" 2>"$work/build.$variant.log" || true
    )
    local package="\"manifest_path\":\"[^\"]*/$variant/Cargo.toml\"" program='"executable":"([^"]+)"'
    sed -nE "s#.*$package.*\"kind\":\[\"test\"\].*\"name\":\"([^\"]+)\".*$program.*#\1\t\2#p" \
        "$work/messages" >"$work/programs.$variant"
}

# run VARIANT FILE PROGRAM SECONDS ARGUMENT…: a line for each test that the arguments select: its
# file, its name, its result.
run() {
    local variant=$1 file=$2 program=$3 seconds=$4 output=$work/output/$2.$1
    shift 4
    (
        cd "$work/$variant"
        "$program" "$@" --list --format terse >"$work/list" 2>/dev/null || true
        timeout -k 10 "$seconds" "$program" "$@" >"$output" 2>"$output.stderr" || true
    )
    # What a test's child process prints may stand before the line, or behind it.
    sed -nE 's/.*test ([^ ]+)( - [a-z ]+)? \.\.\. (ok|FAILED|ignored).*/\1 \3/p' "$output" |
        awk -v file="$file" '
            FNR == NR { if (sub(/: test$/, "")) tests[++n] = $0; next }
            { result[$1] = $2 }
            END {
                for (i = 1; i <= n; i++)
                    print file, tests[i], tests[i] in result ? result[tests[i]] : "no-result"
            }
        ' "$work/list" -
}

# program VARIANT FILE
program() {
    awk -F '\t' -v file="$2" '$1 == file { print $2 }' "$work/programs.$1"
}

# build_and_run VARIANT FILE…: `$work/results.VARIANT`.
build_and_run() {
    local variant=$1 file path
    shift
    : >"$work/results.$variant"
    : >"$work/programs.$variant"
    (($# > 0)) || return 0
    build "$variant" "$@"
    echo "$variant: built $# files after $SECONDS s"
    for file in "$@"; do
        path=$(program "$variant" "$file")
        if [[ -n $path ]]; then
            run "$variant" "$file" "$path" "$FILE_SECONDS" >>"$work/results.$variant"
        else
            echo "$file - did-not-compile" >>"$work/results.$variant"
        fi
    done
}

# The files of which it takes Tokio's own attributes to tell what is right: a test didn't pass, or there are fewer of
# them than attributes, or more. An attribute may be for another system, or in a macro.
doubtful() {
    local file attributes passed all
    for file in "${files[@]}"; do
        # There, attributes can't be counted.
        if grep -qE 'macro_rules!|cfg_attr\(.*\btest\b' "$package/tests/$file.rs"; then
            echo "$file"
            continue
        fi
        attributes=$(grep -cE '^ *#\[(::)?([a-z0-9_]+::)*(maybe_tokio_)?test\b' "$package/tests/$file.rs" || true)
        passed=$(grep -cE "^$file [^ ]+ ok$" "$work/results.swapped" || true)
        all=$(grep -cE "^$file " "$work/results.swapped" || true)
        ((attributes == passed && passed == all)) || echo "$file"
    done
}

# Of the files that were run under both and that both could compile, the tests that differ: file, test, the result
# under Tokio's attributes, that under ours.
differing() {
    # Without a line awk would take the other file for this one.
    [[ -s $work/results.plain ]] || return 0
    awk '
        $3 == "did-not-compile" { left_out[$1] }
        FNR == NR { compared[$1]; plain[$1, $2] = $3 }
        FNR != NR { if (!($1 in compared)) next; swapped[$1, $2] = $3 }
        !(($1, $2) in seen) { seen[$1, $2]; file[++n] = $1; test[n] = $2 }
        END {
            for (i = 1; i <= n; i++) {
                if (file[i] in left_out) continue
                a = (file[i], test[i]) in plain ? plain[file[i], test[i]] : "absent"
                b = (file[i], test[i]) in swapped ? swapped[file[i], test[i]] : "absent"
                if (a != b) print file[i], test[i], a, b
            }
        }' "$work/results.plain" "$work/results.swapped"
}

# Runs what differs alone, and takes the last results for those that there are.
retry() {
    local file test first try variant result line lines
    local -A last
    : >"$work/settled"
    differing >"$work/differing"
    (($(wc -l <"$work/differing") <= MAX_RETRIED)) || return 0
    mapfile -t lines <"$work/differing"
    for line in "${lines[@]}"; do
        read -r file test first <<<"$line"
        for ((try = 1; try <= RETRIES; try++)); do
            for variant in plain swapped; do
                result=$(run "$variant" "$file" "$(program "$variant" "$file")" \
                    "$TEST_SECONDS" --exact "$test")
                result=${result##* }
                last[$variant]=${result:-absent}
            done
            [[ ${last[plain]} != "${last[swapped]}" ]] || break
        done
        for variant in plain swapped; do
            awk -v file="$file" -v test="$test" -v result="${last[$variant]}" \
                '$1 == file && $2 == test { $3 = result } { print }' \
                "$work/results.$variant" | put "$work/results.$variant"
        done
        if [[ ${last[plain]} == "${last[swapped]}" ]]; then
            echo "$file $test $first $try ${last[plain]}" >>"$work/settled"
        fi
    done
}

# table VARIANT TITLE FILE…
table() {
    local variant=$1
    printf '\n%-46s %7s %7s %8s %10s\n' "$2" passed failed ignored 'no result'
    awk '
        FNR == NR { order[++n] = $1; next }
        { count[$1, $3]++; total[$3]++ }
        function line(name, ok, failed, ignored, none, note) {
            printf "%-46s %7d %7d %8d %10d%s\n", name, ok, failed, ignored, none, note
        }
        END {
            for (i = 1; i <= n; i++) {
                f = order[i]
                line(f, count[f, "ok"], count[f, "FAILED"], count[f, "ignored"],
                    count[f, "no-result"], count[f, "did-not-compile"] ? "  did not compile" : "")
            }
            line("all " n " files", total["ok"], total["FAILED"], total["ignored"],
                total["no-result"], "  " total["did-not-compile"] + 0 " did not compile")
        }' <(printf '%s\n' "${@:3}") "$work/results.$variant"
}

# compiler_errors FILE…: of each the first error, and where it is.
compiler_errors() {
    awk -v files="$*" '
        BEGIN { n = split(files, names, " "); for (i = 1; i <= n; i++) wanted[names[i]] }
        /^error/ { error = $0 }
        match($0, /--> (plain|swapped)\/tests\/[a-z0-9_]+\.rs/) && error != "" {
            place = substr($0, RSTART + 4)
            split(place, parts, /[\/.]/)
            if (parts[3] in wanted && !((parts[1], parts[3]) in seen)) print "  " place ": " error
            seen[parts[1], parts[3]]
            error = ""
        }' "$work"/build.*.log
}

# What was not as usual, and whether both are the same.
verdict() {
    local status=0 bad
    if [[ -s $work/settled ]]; then
        printf '\nThese differed at first, and not when they were run alone:\n'
        awk '{ print "  " $1 " " $2 ": " $3 " and " $4 ", alone (try " $5 ") both " $6 }' "$work/settled"
    fi
    # Some need what a machine may not have, such as the internet: that says nothing of the attribute.
    if grep -qE ' (FAILED|no-result)$' "$work/results.plain"; then
        printf "\nThese fail under Tokio's own attributes:\n"
        grep -E ' (FAILED|no-result)$' "$work/results.plain" | sed 's/^/  /'
    fi
    bad=$(grep -h ' did-not-compile$' "$work"/results.* | cut -d ' ' -f 1 | sort -u || true)
    if [[ -n $bad ]]; then
        printf '\nDO NOT COMPILE; the first error of each, all of them are in %s:\n' "$work/build.*.log"
        # shellcheck disable=SC2086 # These are names of files, a word each.
        compiler_errors $bad
        status=1
    fi
    if [[ -n $(differing) ]]; then
        printf "\nDIFFERENT, file and test, under Tokio's attributes and under ours:\n"
        differing | sed 's/^/  /'
        echo "What they printed when they were last run is in $work/output, their programs in"
        echo "$work/programs.*."
        status=1
    fi
    # Two times nothing would be the same, too.
    if ! grep -q ' ok$' "$work/results.swapped"; then
        printf '\nNOTHING PASSED; the end of what the build said:\n'
        tail -n 20 "$work/build.swapped.log"
        status=1
    fi
    printf '\ntokio-suite: %s in %d s\n' "$( ((status)) && echo FAILED || echo the same)" "$SECONDS"
    return "$status"
}

# What a developer may have set for themselves must not decide here.
unset CARGO_ENCODED_RUSTFLAGS TOKIO_STATEMAP RUST_TEST_THREADS RUST_BACKTRACE
export RUSTFLAGS='--cfg tokio_unstable' CARGO_TERM_COLOR=never

version=$(cargo pkgid --locked tokio)
version=${version##*[@#:]}
package=$(cargo metadata --format-version 1 --locked |
    grep -oE "\"manifest_path\":\"[^\"]*/tokio-${version//./\\.}/Cargo.toml\"" | head -n 1)
package=${package#*:\"}
package=${package%/Cargo.toml\"}
[[ -d $package/tests ]] || die "there are no tests in the package of tokio $version: $package"

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/tmp/tokio-suite
work=$target/$version
export CARGO_TARGET_DIR=$target/target TOKIO_STATEMAP_DIR=$target/pages
rm -rf "$TOKIO_STATEMAP_DIR"
mkdir -p "$work/output"

third=''
if [[ ${1-} == --third ]]; then
    third=$(($2 % 3))
    shift 2
fi

# is_taken FILE: whether `--third` takes it. `others` counts the files that are in one of the thirds.
others=0
is_taken() {
    [[ $(basename "$1") != @(rt|macros)_* ]] || return 0
    grep -qE '\bspawn|runtime::|JoinSet|LocalSet|block_in_place|time::|yield_now|select!|join!' "$1" || return 1
    others=$((others + 1))
    ((others % 3 == third))
}

files=("$@") without=0 left_out=0
if ((${#files[@]} == 0)); then
    for path in "$package"/tests/*.rs; do
        if cmp -s "$path" <(swap "$path"); then
            without=$((without + 1))
        elif [[ -n $third ]] && ! is_taken "$path"; then
            left_out=$((left_out + 1))
        else
            files+=("$(basename "$path" .rs)")
        fi
    done
fi
for file in "${files[@]}"; do
    [[ -e $package/tests/$file.rs ]] || die "tokio $version has no test file \`$file\`"
done

echo "tokio $version: ${#files[@]} test files, $left_out are left out${third:+ (third $third)}, $without have none of the attributes"
sources
lock | put "$work/Cargo.lock"
build_and_run swapped "${files[@]}"
mapfile -t compared < <(doubtful)
build_and_run plain "${compared[@]}"
retry
((${#compared[@]} == 0)) || table plain "Under Tokio's attributes" "${compared[@]}"
table swapped "Under ours" "${files[@]}"
verdict
