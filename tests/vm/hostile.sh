#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Two guests work with each other while a process on the host (window-mutator) attacks the window
# that they share, in one way after the other. They have to survive it, to tell what is wrong, to go
# on with what is theirs, and to find back to each other. Output is TAP.
#
# usage: tests/vm/hostile.sh [--kernel K] [--seconds N] [--brief] [--seed S] [MODE]...
#   --kernel   what the guests boot (debug); "debug" is emulated, and its nodes get more time
#   --seconds  how long each attack lasts (5)
#   --brief    a second, no sweep, and no attack leaves made-up nodes behind for which the guests have to wait for minutes
#   --seed     what chance depends on (any)
#   MODE       which attacks (each once; see window-mutator --help)
set -u
cd "$(dirname "$0")/../.." || exit
build=${RSM_BUILD:-$PWD/build}
mutator=$build/tests/hostile/window-mutator
work=$build/tests/hostile/hostile-work
kernel=debug
# A machine that is slow for KASAN and lockdep must not be taken for dead.
heartbeat=2000
seconds=5
settle=
sweep=sweep
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')

usage() {
	sed -n 's/^# \{0,1\}//; /^usage/,/^$/p' "$0" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2 && shift ;;
	--seconds) seconds=$2 && shift ;;
	--brief) seconds=1 settle=--settle sweep= ;;
	--seed) seed=$2 && shift ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[ "$kernel" = debug ] || heartbeat=1000
# shellcheck disable=SC2086 # it may be none
[ $# -gt 0 ] || set -- super incarnation node-id beat ghost bell tail head length content forged chunk \
	twice interrupt liar mute slow flood deaf $sweep all

# breaks MODE: whether the attack ends the link sooner or later, and the log has to say why.
breaks() {
	case $1 in
	incarnation | tail | head | length | deaf | mute | all) return 0 ;;
	*) return 1 ;;
	esac
}

phases=
for mode; do
	phases="$phases $mode"
	! breaks "$mode" || phases="$phases:breaks"
	[ "$mode" != sweep ] || phases="$phases:swept"
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
out=$scratch/out
touch "$out"

# shellcheck disable=SC2016  # the guest's shell expands what is quoted here
# After its work a guest waits until all is given back, and tells each change of what is not: the other guest may have to
# find out first that a link has ended. rsm-vm's limit ends the wait. Then the guest tells its counts and its log.
epilogue='status=$?
	[ $status = 0 ] || printf "@1 gone\n@2 gone\n" >/run/rsm-hub
	told=
	while left=$(grep -v " 0$" /sys/kernel/debug/rsm/stats); do
		[ "$left" = "$told" ] || echo "$left" | sed "s/^/left /"
		told=$left
		sleep 1
	done
	sed "s/^/stats /" /sys/kernel/debug/rsm/stats
	dmesg | sed -n "/hostile: phase/,\$s/^/log /p"
	exit $status'
# Faults of user space show up there, too.
prologue='echo 1 >/proc/sys/debug/exception-trace'
# The margins are for what hangs, not for what is slow: a phase ends when the nodes have found back to
# each other.
tools/rsm-vm --kernel "$kernel" --nodes 2 --controller ivshmem --ivshmem-socket "$scratch/socket" \
	--timeout $(($# * (seconds + 300) + 600)) --module-param "rsm:heartbeat_ms=$heartbeat" \
	--copy "$work:/work" --on 2 "$prologue; /work follow; $epilogue" \
	-- "$prologue; /work lead $((seconds + 2))$phases; $epilogue" >"$out" 2>"$scratch/err" </dev/null &
vm=$!

# The guests and the attacker go on. The attacker ends before the guests do only if something is wrong: the guests would
# wait for its attack until rsm-vm's limit.
go_on() {
	kill -0 $vm 2>/dev/null || return
	[ -n "$attacker" ] || return 0
	! kill -0 "$attacker" 2>/dev/null || return 0
	echo "the attacker has ended"
	kill $vm
	while kill -0 $vm 2>/dev/null; do
		sleep 0.1
	done
	return 1
}

# await PATTERN: a line of the guests, in $line; false if they, or the attacker, end without one.
await() {
	while true; do
		ended=0
		go_on || ended=1
		line=$(grep -m 1 "$1" "$out") && return
		[ $ended = 0 ] || return 1
		sleep 0.1
	done
}

number=0
failures=0

# result STATUS NAME
result() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number - $2"
	else
		failures=$((failures + 1))
		echo "not ok $number - $2"
	fi
}

# One program for all attacks, from the first one on: peers that come and go are none of them.
attack() {
	await "^phase $1\$" || return
	[ -n "$attacker" ] || {
		"$mutator" --socket "$scratch/socket" --seconds "$seconds" ${settle:+"$settle"} --seed "$seed" \
			<"$scratch/orders" >"$scratch/attacks" 2>&1 &
		attacker=$!
	}
	order "$1" || return
	while breaks "$1" && ! grep -q "^broken $1\$" "$out"; do
		order "$1" || return
	done
	await "^done $1 " || return
	sed -n "s/^$1: /&/p" "$scratch/attacks"
	echo "$line"
}

# order MODE: one attack, to its end. The guests may be done before the attacker is, or have ended.
order() {
	orders=$((orders + 1))
	echo "$1" >&3
	while [ "$(grep -c '^[a-z-]*: slot ' "$scratch/attacks")" -lt $orders ]; do
		go_on || return
		sleep 0.1
	done
}

attacker=
orders=0
mkfifo "$scratch/orders"
exec 3<>"$scratch/orders"
echo "TAP version 13"
echo "1..$(($# + 4))"
for mode; do
	attack "$mode" >"$scratch/told"
	survival=$?
	sed 's/^/# /' "$scratch/told"
	# The last pair that a sweep has tried may be the one that a guest has not survived.
	[ $survival = 0 ] || tail -n 3 "$scratch/attacks" | sed 's/^/# /'
	result $survival "$mode"
done
wait $vm
status=$?
exec 3>&-
kill "$attacker" 2>/dev/null
wait "$attacker" 2>/dev/null

# No report of the kernel, no leak that kmemleak knows, no status but 0.
[ $status = 0 ] || { grep 'failed: ' "$out"; cat "$scratch/err"; } | sed 's/^/# /'
result $status "the guests are in order"

# Both guests' handles, published, grants and pinned_pages.
[ "$(grep -c '^\(\[2\] \)\{0,1\}stats .* 0$' "$out")" = 8 ]
left=$?
result $left "nothing is left"
[ $left = 0 ] || grep '^\(\[2\] \)\{0,1\}left ' "$out" | sed 's/^/# /'

# reasons MODE: what the logs say about links that ended in that phase. The guests tell theirs at the
# same time.
reasons() {
	for guest in '' '\[2\] '; do
		sed -n "s/^${guest}log //p" "$out" |
			sed -n "/hostile: phase $1\$/,/hostile: phase/p" |
			sed -n 's/.*rsm: ivshmem0: node [0-9]* is down: //p'
	done
}

missing=
for mode; do
	! breaks "$mode" || [ -n "$(reasons "$mode")" ] || missing="$missing $mode"
done
echo "# reasons: $(sed -n 's/.*rsm: ivshmem0: node [0-9]* is down: //p' "$out" | sort | uniq -c |
	sort -rn | tr -s ' \n' ' ')"
[ -z "$missing" ]
result $? "the log has reasons${missing:+, but not for$missing}"

lines=$(grep -c '^\(\[2\] \)\{0,1\}log ' "$out")
limit=$((200 * $# + 20 * seconds * orders))
# A sweep ends links all the time.
case " $* " in *' sweep '*) limit=$((limit + 4000)) ;; esac
echo "# $lines lines of log, at most $limit"
[ "$lines" -gt 0 ] && [ "$lines" -le $limit ]
result $? "the log is not flooded"
[ $failures = 0 ]
