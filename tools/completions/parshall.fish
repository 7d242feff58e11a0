# __parshall_at OPTIONS COMMANDS COMMAND: whether the words so far are of COMMAND, which is one of COMMANDS (by commas);
# of the OPTIONS that may stand before a command, those that take a word.
function __parshall_at
    set -l takers (string split ' ' -- $argv[1])
    set -l commands (string split ',' -- $argv[2])
    set -l path
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $takers
            set skip 1
        else if contains -- (string join ' ' -- $path $word) $commands
            set path $path $word
        end
    end
    test "$path" = "$argv[3]"
end

# __parshall_list WORD...: each, after what stands before the last comma.
function __parshall_list
    set -l before (string match -r '^.*,' -- (commandline -ct | string replace -r '^-[^=]*=' ''))
    string join \n -- "$before"$argv
end
