#!/bin/bash
# Counts the instructions of writing without looking, before a change and after it, and
# fails if they differ by more than 1 %. Times scatter too much on a shared machine to show
# that; counts don't. From the top of the repository:
#
#     testdata/why/instructions.sh BEFORE [AFTER]
#
# BEFORE and AFTER are commits; without AFTER it is the working tree. Each is built and
# writes 64 tokens under valgrind's callgrind, three times each, which takes some
# minutes. Needs valgrind and git.
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

forward='infer.(*Model).Forward [' # as callgrind_annotate names it, the program's path behind it

# count NAME prints the instructions of the forward passes and all that they call.
count() {
  callgrind_annotate --inclusive=yes --threshold=100 "$work/$1.out" |
    awk -v name="$forward" 'index($0, name) && !n { n = $1; gsub(",", "", n); print n }'
}

# measure NAME runs a program under callgrind, with as little chance as can be, and prints
# the count. Where Go switches goroutines within a pass, callgrind counts the other one's
# instructions, too: so the least of three runs counts.
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
