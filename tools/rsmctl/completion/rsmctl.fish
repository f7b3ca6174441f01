# SPDX-License-Identifier: GPL-2.0
# Completion of rsmctl's commands for fish. Names and numbers are those of the moment.

# The first column of a list.
function __rsmctl_names
    rsmctl $argv[1] list 2>/dev/null | awk 'NR > 1 && $1 != "-" { print $1 }'
end

# The columns of a list, from its headings.
function __rsmctl_columns
    rsmctl $argv[1] list 2>/dev/null | awk 'NR == 1 { n = split(tolower($0), names); for (i = 1; i <= n; i++) print names[i] }'
end

# Whether the commands on the line are exactly these.
function __rsmctl_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l commands (string match -v -- '-*' $words)
    test "$commands" = "$argv"
end

complete -c rsmctl -f
complete -c rsmctl -s j -l json -d 'JSON, for programs'
complete -c rsmctl -s h -l human -d 'Sizes with suffix K, M, G'
complete -c rsmctl -l color -x -a 'auto always never' -d 'Colours'
complete -c rsmctl -l help -d 'Show a summary'
complete -c rsmctl -n '__rsmctl_at' -l version -d 'Show the version'

for entry in 'controller:Interconnects that reach segments' 'node:Nodes that controllers know' \
        'segment:Exported segments' 'import:Imported segments' \
        'process:Processes that have segments, and their limits' 'stats:Counters of this node' \
        'show:A segment and who imports it here' 'monitor:Events as they happen' \
        'top:Segments and imports by traffic' \
        'doctor:Whether this machine can use RSM' 'metrics:The state in the text format of OpenMetrics' \
        'help:Explain a command'
    set -l parts (string split -m 1 : $entry)
    complete -c rsmctl -n '__rsmctl_at' -a $parts[1] -d $parts[2]
end

for object in controller node segment import process stats
    complete -c rsmctl -n "__rsmctl_at $object" -a list -d 'List them'
    for line in $object "$object list"
        complete -c rsmctl -n "__rsmctl_at $line" -l watch -d 'List again and again'
    end
end
for object in controller node segment import process
    complete -c rsmctl -n "__rsmctl_at $object" -a show -d 'Show all of one'
    for line in $object "$object list"
        complete -c rsmctl -n "__rsmctl_at $line" -l sort -x -a "(__rsmctl_columns $object)" -d 'Sort the list'
        complete -c rsmctl -n "__rsmctl_at $line" -l columns -x -a "(__rsmctl_columns $object)" -d 'Show these columns'
    end
    complete -c rsmctl -n "__rsmctl_at $object show" -a "(__rsmctl_names $object)"
end
complete -c rsmctl -n '__rsmctl_at node' -a add -d 'Reach one more node'
complete -c rsmctl -n '__rsmctl_at node' -a set -d 'Give a node another address'
complete -c rsmctl -n '__rsmctl_at node' -a del -d 'Forget a node'
complete -c rsmctl -n '__rsmctl_at node' -a secret -d 'What nodes prove to know'
complete -c rsmctl -n '__rsmctl_at node secret' -F
complete -c rsmctl -n '__rsmctl_at node secret' -l none -d 'There is no secret any more'
complete -c rsmctl -n '__rsmctl_at segment' -a revoke -d 'End a segment'
for line in 'node set' 'node del'
    complete -c rsmctl -n "__rsmctl_at $line" -a '(__rsmctl_names node)'
end
for line in 'node show' 'node add' 'node set' 'node del' 'node secret'
    complete -c rsmctl -n "__rsmctl_at $line" -s c -l controller -x -a '(__rsmctl_names controller)'
end
for line in show 'segment revoke'
    complete -c rsmctl -n "__rsmctl_at $line" -a '(__rsmctl_names segment)'
end
for line in show 'segment show' 'segment revoke'
    complete -c rsmctl -n "__rsmctl_at $line" -l number -d 'The number of the handle instead of the id'
end
complete -c rsmctl -n '__rsmctl_at metrics' -s o -l output -r -F -d 'Replace a file in one step'
complete -c rsmctl -n '__rsmctl_at top' -l watch -d 'Another interval'
complete -c rsmctl -n '__rsmctl_at metrics' -l segments -d 'Each segment and each import, too'
complete -c rsmctl -n 'string match -q -- monitor (commandline -opc)[2]' \
    -a 'publish unpublish connect disconnect node-up node-down limit-hit denied'
