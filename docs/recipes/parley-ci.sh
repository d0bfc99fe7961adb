#!/bin/sh
# Launch an agent from a pipeline, and wait until it has ended: POSIX sh and curl, nothing else.
#
#   PARLEY_URL=https://parley.example.com PARLEY_API_KEY=... \
#   sh parley-ci.sh [--timeout SECONDS] [--thread-key KEY] [--metadata NAME=VALUE]...
#                   [--idempotency-key KEY] AGENT TEXT
#
# The key needs the scopes launch and read. The result goes to stdout, talk to stderr.
# Exit code: 0 it finished; 1 it failed, was cancelled, or people said no; 2 wrong usage;
# 3 it still waits after --timeout (3600 seconds). It goes on then, and can be asked again: the same
# --idempotency-key launches nothing new.

set -eu
LC_ALL=C # bytes are passed on as they are
export LC_ALL

say() { printf 'parley-ci: %s\n' "$*" >&2; }

usage() {
    say "$@"
    exit 2
}

# --- what is wanted -------------------------------------------------------------------------------

timeout=3600 thread_key='' idempotency_key='' metadata=''

json() { # a text as a JSON string: control characters that no text needs are left out
    tab=$(printf '\t') cr=$(printf '\r')
    printf '%s\n' "$1" | tr -d '\000-\010\013\014\016-\037' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" -e "s/$cr/\\\\r/g" |
        awk 'BEGIN { printf "\"" } NR > 1 { printf "\\n" } { printf "%s", $0 } END { printf "\"" }'
}

add_metadata() {
    case $1 in
    ?*=*) metadata="$metadata${metadata:+,}$(json "${1%%=*}"):$(json "${1#*=}")" ;;
    *) usage "--metadata should look like name=value, not $1" ;;
    esac
}

while [ $# -gt 0 ]; do
    case $1 in
    --timeout | --thread-key | --metadata | --idempotency-key)
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
        --timeout) timeout=$2 ;;
        --thread-key) thread_key=$2 ;;
        --metadata) add_metadata "$2" ;;
        --idempotency-key) idempotency_key=$2 ;;
        esac
        shift 2
        ;;
    --)
        shift
        break
        ;;
    -?*) usage "there is no option $1" ;;
    *) break ;;
    esac
done

[ $# -eq 2 ] || usage 'it takes two arguments, AGENT and TEXT, after the options'
case $1:$2 in :* | *:) usage 'AGENT and TEXT must not be empty' ;; esac
case $timeout in
'' | *[!0-9]* | ??????????*) usage "--timeout is a number of seconds, not $timeout" ;;
esac
url=${PARLEY_URL:-} key=${PARLEY_API_KEY:-}
case $url in
http://?* | https://?*) url=${url%/} ;;
*) usage 'PARLEY_URL must say where the server is, like https://parley.example.com' ;;
esac
case $key in
'' | *[!A-Za-z0-9._-]*) usage 'PARLEY_API_KEY must be a key, as parley keys create prints it' ;;
esac
[ -n "$idempotency_key" ] || idempotency_key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
case $idempotency_key in *[!!-~]*) usage '--idempotency-key takes visible ASCII characters' ;; esac
command -v curl >/dev/null || usage 'curl is not here'

# --- talking to the server ------------------------------------------------------------------------

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The secret goes by a file that only we can read: arguments can be seen by every process.
(
    umask 077
    printf 'header = "Authorization: Bearer %s"\n' "$key" >"$scratch/curlrc"
)
deadline=$(($(date +%s) + timeout))

left() { echo $((deadline - $(date +%s))); }

ask() { # SECONDS ARGUMENTS...: make one call; sets $status (000: no answer) and $outcome
    seconds=$1
    shift
    : >"$scratch/headers"
    status=$(curl --silent --config "$scratch/curlrc" --header 'Accept: text/plain' \
        --connect-timeout 10 --max-time "$seconds" --dump-header "$scratch/headers" \
        --output "$scratch/body" --write-out '%{http_code}' "$@") || status=000
    outcome=$(header '[Pp]arley-[Oo]utcome')
}

header() { # NAME: the last value of a response header that is one plain word or path
    sed -n "s#^$1: *\\([A-Za-z0-9_./-]*\\).*#\\1#p" "$scratch/headers" | tail -n 1
}

may_pass() { # whether the same may be answered later
    case $status in 000 | 408 | 429 | 5??) return 0 ;; esac
    return 1
}

refused() {
    say "the server refused ($status):"
    cat "$scratch/body" >&2
    echo >&2
    exit 1
}

launch() { # again and again for a minute: the key makes that harmless
    {
        printf '{"agent":%s,"text":%s' "$(json "$1")" "$(json "$2")"
        [ -z "$thread_key" ] || printf ',"thread_key":%s' "$(json "$thread_key")"
        [ -z "$metadata" ] || printf ',"metadata":{%s}' "$metadata"
        printf '}'
    } >"$scratch/launch"
    patience=$(($(date +%s) + 60))
    while :; do
        ask 30 --request POST --header 'Content-Type: application/json' \
            --header "Idempotency-Key: $idempotency_key" --data-binary "@$scratch/launch" \
            "$url/v1/threads"
        case $status in 200 | 201) break ;; esac
        may_pass || refused
        if [ "$(date +%s)" -ge "$patience" ]; then
            say "no server could launch it at $url (last: $status)"
            exit 1
        fi
        sleep 1
    done
    thread=$(header '[Ll]ocation')
    thread=${thread##*/}
    [ -n "$thread" ] || usage 'what answered is no Parley server: look at PARLEY_URL'
    say "launched $thread"
}

told=''
tell() { # what is new, for who reads the log
    now=$(cat "$scratch/body")
    [ "$now" = "$told" ] || printf '%s\n' "$now" >&2
    told=$now
}

follow() { # until it has ended, or the time is over; a server that is away is waited for
    until=rest
    while [ "$(left)" -gt 0 ]; do
        wait=$(left)
        [ "$wait" -le 20 ] || wait=20
        ask $((wait + 20)) "$url/v1/threads/$thread?wait=$wait&until=$until"
        case $status:$outcome in
        200:finished)
            cat "$scratch/body"
            exit 0
            ;;
        200:denied)
            cat "$scratch/body"
            say 'people did not give leave'
            exit 1
            ;;
        200:failed | 200:cancelled)
            tell
            exit 1
            ;;
        200:waiting | 200:paused)
            tell
            until=end # from now on, rest is not enough
            ;;
        200:?*) until=rest ;;
        200:) # a page of maintenance, perhaps: nobody has said yes, and something was launched
            say "what answered is no Parley server: $thread goes on without us"
            exit 1
            ;;
        *)
            may_pass || refused
            sleep 1
            ;;
        esac
    done
    say "$thread still waits after $timeout seconds: it goes on without us"
    exit 3
}

launch "$1" "$2"
follow
