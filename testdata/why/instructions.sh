#!/bin/bash
# Counts the instructions needed to generate a text before and after a change, and fails if
# the counts differ by more than 1 %. On a shared machine, times vary too much to show such a
# difference; counts do not. Run it from the top of the repository:
#
#     testdata/why/instructions.sh BEFORE [AFTER]
#
# BEFORE and AFTER are commits; AFTER defaults to the working tree. Each program is built and
# generates 64 tokens under valgrind's callgrind three times, which takes several minutes. The
# script needs valgrind and git.
set -euo pipefail

fail() { echo "instructions: $*" >&2; exit 1; }

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: testdata/why/instructions.sh BEFORE [AFTER]"
for tool in valgrind callgrind_annotate git go; do
  command -v $tool >/dev/null || fail "$tool is not installed, so nothing was counted"
done
top=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'git -C "$top" worktree prune; rm -rf "$work"' EXIT

# build NAME [COMMIT] leaves a program in $work/NAME.
build() {
  local from=$top
  if [ $# -eq 2 ]; then
    from=$work/tree-$1
    git -C "$top" worktree add --quiet --detach "$from" "$2" || fail "there is no commit $2"
  fi
  (cd "$from" && CGO_ENABLED=0 go build -o "$work/$1" ./cmd/viz) || fail "$1 does not build"
  if [ $# -eq 2 ]; then git -C "$top" worktree remove --force "$from"; fi
}

forward='infer.(*Model).Forward [' # its name in callgrind_annotate, which appends the program's path

# count NAME prints the number of instructions of the forward passes and everything they call.
count() {
  callgrind_annotate --inclusive=yes --threshold=100 "$work/$1.out" |
    awk -v name="$forward" 'index($0, name) && !n { n = $1; gsub(",", "", n); print n }'
}

# measure NAME runs a program under callgrind, with as little randomness as possible, and
# prints the count. If Go switches goroutines during a pass, callgrind also counts the
# instructions of the other goroutine, so the smallest count of three runs is used.
measure() {
  local least="" n
  for _ in 1 2 3; do
    run "$1"
    n=$(count "$1")
    [ -n "$n" ] || fail "callgrind did not name the forward pass, so nothing was compared"
    if [ -z "$least" ] || [ "$n" -lt "$least" ]; then least=$n; fi
  done
  echo "$least"
}

run() {
  GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off GOMAXPROCS=1 GOGC=off VIZ_KERNEL=avx2 \
    valgrind --tool=callgrind --callgrind-out-file="$work/$1.out" \
    "$work/$1" trace -prompt "Once upon a time there was a" -temp 0 -rows 1 -n 64 \
    >"$work/$1.txt" 2>"$work/$1.log" || { tail -5 "$work/$1.log" >&2; fail "$1 did not run"; }
}

build before "$1"
if [ $# -eq 2 ]; then build after "$2"; else build after; fi
before=$(measure before)
after=$(measure after)
awk -v a="$before" -v b="$after" \
  'BEGIN { printf "forward passes: %d instructions before, %d after, %+.2f %%\n", a, b, 100 * (b - a) / a }'
awk -v a="$before" -v b="$after" 'BEGIN { exit b > 1.01 * a || b < 0.99 * a }' || fail "more than 1 % apart"
