# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154  # run sets vm, scratch, out and err
# Common parts of the tests of rsm-vm.  Sourced by run.

number=0
failures=0

# guest EXPECTED_STATUS ARGUMENT...: runs rsm-vm, fails unless it exits so.
guest() {
	expected=$1
	shift
	$vm --timeout 900 "$@" >"$out" 2>"$err" </dev/null
	status=$?
	[ $status -eq "$expected" ] || {
		echo "exit status $status, expected $expected: $*" >&2
		tail -n 20 "$err" >&2
		return 1
	}
}

# Runs a command with a limit; again with twice as much when the guest did not come to write to the file meanwhile: a
# slow machine takes long to boot it.
times_out() {
	written=$1
	shift
	limit=12
	until
		before=$(date +%s)
		"$@" || return 1
		echo "# $limit s were over after $(($(date +%s) - before)) s"
		[ -s "$written" ]
	do
		[ $limit -lt 800 ] || {
			echo "the guest has written nothing within $limit s" >&2
			return 1
		}
		limit=$((2 * limit))
	done
}

prints() {
	printf '%s\n' "$@" | cmp -s - "$out" || {
		echo "unexpected output:" >&2
		head -n 20 "$out" >&2
		return 1
	}
}

complains() {
	grep -q "$1" "$err" || {
		echo "no '$1' on standard error:" >&2
		tail -n 20 "$err" >&2
		return 1
	}
}

one_line() {
	[ "$(wc -l <"$err")" -eq 1 ] || {
		echo "not one line:" >&2
		cat "$err" >&2
		return 1
	}
}

# skip REASON: what a test returns that can't run here.
skip() {
	echo "$1" >&2
	return 77
}

# t NAME: runs the function test_NAME; what it says on standard error becomes a diagnostic.
t() {
	number=$((number + 1))
	"test_$1" 2>"$scratch/why"
	status=$?
	if [ $status -eq 0 ]; then
		echo "ok $number - $1"
	elif [ $status -eq 77 ]; then
		echo "ok $number - $1 # SKIP $(tail -n 1 "$scratch/why")"
	else
		failures=$((failures + 1))
		echo "not ok $number - $1"
		sed 's/^/# /' "$scratch/why"
	fi
}

# waits_for PATTERN FILE PID: until the file has such a line.  Fails when the process has ended without.
waits_for() {
	until grep -q "$1" "$2"; do
		kill -0 "$3" 2>/dev/null || grep -q "$1" "$2" || {
			echo "ended without '$1'" >&2
			return 1
		}
		sleep 0.1
	done
}

# Processes that our runs have started and not ended.
processes() {
	pgrep -a -f "initrd $TMPDIR/"
	pgrep -a -f "socket $TMPDIR/"
}

# The last thing too: whatever the tests did, no QEMU and no file of theirs may be left.
test_nothing_is_left_behind() {
	left=$(ls "$TMPDIR"; processes)
	[ -z "$left" ] || {
		echo "left behind: $left" >&2
		return 1
	}
}
