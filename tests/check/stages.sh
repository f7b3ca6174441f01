# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What tests/check/run is made of: stages that print their name, result and time, and count tests.
# Needs $logs, the directory for logs.

logs=${logs:?}
passed=0
failed=0
skipped=0
stages_failed=
began=$(date +%s)

# Adds the results of a stage and tells of them.
#   report NAME STATUS SECONDS PASSED FAILED SKIPPED
report() {
	passed=$((passed + $4))
	failed=$((failed + $5))
	skipped=$((skipped + $6))
	if [ "$2" = 0 ]; then
		printf 'ok      %-18s %5d s  %s passed, %s skipped\n' "$1" "$3" "$4" "$6"
		return
	fi
	stages_failed="$stages_failed $1"
	printf 'FAILED  %-18s %5d s  %s passed, %s failed, %s skipped; from %s:\n' "$1" "$3" "$4" \
		"$5" "$6" "$logs/$1.log"
	# Single tests that failed say most; otherwise it is the end of the log that tells.
	if grep -q '^not ok ' "$logs/$1.log"; then
		grep -A 8 '^not ok ' "$logs/$1.log" | head -n 60
	else
		tail -n 25 "$logs/$1.log"
	fi | sed 's/^/        /'
}

# Runs a command with its output in the stage's log; sets $status and $seconds.
run_logged() {
	name=$1
	shift
	start=$(date +%s)
	"$@" >"$logs/$name.log" 2>&1 </dev/null
	status=$?
	seconds=$(($(date +%s) - start))
}

# A stage that is one test: it passes when the command succeeds.
stage() {
	run_logged "$@"
	report_one "$1"
	return "$status"
}

# The same for a command that exits with 77, and says why, where it can't be run.
skippable_stage() {
	run_logged "$@"
	if [ "$status" = 77 ]; then
		skip "$1" "$(sed -n 's/^SKIP: //p' "$logs/$1.log")"
	else
		report_one "$1"
	fi
}

report_one() {
	if [ "$status" = 0 ]; then
		report "$1" 0 "$seconds" 1 0 0
	else
		report "$1" "$status" "$seconds" 0 1 0
	fi
}

# A stage without which nothing after it makes sense.
must_stage() {
	stage "$@" || summary
}

count_lines() {
	grep -cE "$1" "$logs/$name.log" || true
}

# A stage whose command prints TAP; with a bad exit status at least one test has failed. Indented
# lines are sub-tests, which KTAP counts within the line that sums them up.
tap_stage() {
	run_logged "$@"
	count_tap
	tap_report "$1"
}

count_tap() {
	skips=$(count_lines '^ok .*# *SKIP')
	good=$(($(count_lines '^ok ') - skips))
	bad=$(count_lines '^not ok ')
}

# A stage run by ctest, which counts for itself.
ctest_stage() {
	name=$1
	shift
	run_logged "$name" ctest --output-on-failure "$@"
	good=$(count_lines '^ *[0-9]+/[0-9]+ Test .* Passed ')
	bad=$(count_lines '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Timeout|Exception|Not Run)')
	skips=$(count_lines '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped')
	tap_report "$name"
}

# Silence is no success: a stage without a single result has failed.
tap_report() {
	[ "$bad" = 0 ] || [ "$status" != 0 ] || status=1
	[ $((good + skips)) -gt 0 ] || status=1
	[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
	report "$1" "$status" "$seconds" "$good" "$bad" "$skips"
}

skip() {
	skipped=$((skipped + 1))
	printf 'skip    %-18s          %s\n' "$1" "$2"
}

# A command beside the stages, in another process; one of the stages that follow reports its result.
job() {
	run_logged "$@"
	echo "$status $seconds" >"$logs/$1.result"
	return "$status"
}

# Sets what run_logged would have set, had the job been a stage.
result_of() {
	name=$1
	read -r status seconds <"$logs/$1.result" || echo "$1 was not reached" >"$logs/$1.log"
}

# A stage that is one test, run as a job.
stage_of_job() {
	status=1 seconds=0
	result_of "$1"
	report_one "$1"
}

# A stage that prints TAP, run as a job.
tap_stage_of_job() {
	status=1 seconds=0
	result_of "$1"
	count_tap
	tap_report "$1"
}

# The end of everything.
summary() {
	echo
	[ -z "$stages_failed" ] || echo "failed stages:$stages_failed"
	echo "took $((($(date +%s) - began) / 60)) min"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ -z "$stages_failed" ]
	exit
}
